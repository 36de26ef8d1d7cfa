"""A team's models of the Hub: the form that checks one and has it run, the runs there are, and each one live."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from core.errors import AqaError, InvalidInput
from server import models
from server.access import SUBMITTERS, only
from server.context import services, signed_in
from server.forms import card_of
from server.limits import limited

bp = APIBlueprint("models", __name__, url_prefix="/models", enable_openapi=False)
_TEXTS = ("reference", "benchmark", "system", "architecture", "supervision", "description", "links", "size")
_LONGEST = 300
_WHOLE = ("k", "P", "A", "shots", "max_new_tokens")


@bp.get("")
@only(*SUBMITTERS)
def overview() -> str:
    """The form and the team's runs."""
    return _page({"benchmark": request.args.get("benchmark", "")[:64]})


@bp.post("")
@limited("files")
@only(*SUBMITTERS)
def send() -> tuple[str, int] | str | Response:
    """Say what would be refused of a model, or have it run; what is wrong is shown above the form."""
    sent: dict[str, Any] = {name: request.form.get(name, "") for name in _TEXTS}
    sent |= {name: request.form.get(name, "").strip() for name in (*models.MOST, "seed")}
    sent["publish"] = "publish" in request.form
    try:
        reference = _reference(sent["reference"])
        if request.form.get("do") == "check":
            found = models.check(services().settings, reference)
            return _page(sent if found.refusals else sent | {"reference": found.pinned}, found=found)
        card = card_of(sent | {"links": [sent["links"]], "uses_autoais": False})
        made = models.submit(
            services(), signed_in().team_id, reference, sent["benchmark"], card, _decoding(sent),
            seed=int(_number("seed", sent["seed"] or "0")), publish=sent["publish"],
        )  # fmt: skip
    except AqaError as error:
        return _page(sent, error=error), error.status
    return redirect(url_for(".run", run_id=made), 303)


@bp.get("/<run_id>")
@only(*SUBMITTERS)
def run(run_id: str) -> str:
    """One run of the team's own: the whole page."""
    return _run("model_run.html", run_id)


@bp.get("/<run_id>/live")
@only(*SUBMITTERS)
def live(run_id: str) -> str:
    """The part of the page that changes while the model answers."""
    return _run("_model_run.html", run_id)


def _reference(text: str) -> str:
    if not text.strip() or len(text) > _LONGEST:
        raise InvalidInput("No model is named.", "Write it like owner/name@revision.")
    return text


def _decoding(sent: dict[str, Any]) -> dict[str, float | int]:
    return {name: _number(name, sent[name]) for name in models.MOST if sent[name]}


def _number(name: str, text: str) -> float | int:
    try:
        if len(text) > 20:
            raise ValueError
        number = int(text) if name in (*_WHOLE, "seed") else float(text)
        if name == "seed" and not 0 <= number < 2**31:
            raise ValueError
    except ValueError:
        kind = "a whole number" if name in (*_WHOLE, "seed") else "a number"
        raise InvalidInput(
            f"{name}={text[:20]!r} is not {kind} that can be used.", "Mend it or leave it out."
        ) from None
    return number


def _run(template: str, run_id: str) -> str:
    with services().database.reading() as session:
        row = models.own(session, signed_in().team_id, run_id)
        position = services().queue.position(session, row.id) if row.state == "queued" else None
    return render_template(template, run=row, position=position, benchmark=services().benchmarks.row(row.benchmark_id))


def _page(sent: dict[str, Any], **shown: Any) -> str:
    settings, who = services().settings, signed_in()
    with services().database.reading() as session:
        found = models.listed(session, who.team_id)
        used = models.used_today(session, who.team_id)
    return render_template(
        "models.html", benchmarks=services().benchmarks.all(), sent=sent, runs=found, settings=settings,
        left=max(settings.models_per_day - used, 0), offered=models.offered(), most=models.MOST, **shown,
    )  # fmt: skip
