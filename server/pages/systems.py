"""The maintainers' page of reference systems: the catalog, a form that starts a run, and the runs there are."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from core.errors import AqaError, InvalidInput
from server import runs, system_runs
from server.access import only
from server.context import services
from server.limits import limited

bp = APIBlueprint("systems", __name__, url_prefix="/systems", enable_openapi=False)
_SHOWN = 50
_LARGEST = 10**9


@bp.get("")
@only("maintainer")
def overview() -> str:
    """The catalog on one benchmark, the form and the runs."""
    return _page()


@bp.post("")
@limited("files")
@only("maintainer")
def start() -> tuple[str, int] | Response:
    """Queue a run; what is wrong is shown above the form, which keeps what was typed."""
    form = request.form
    try:
        changes = _changes(form.get("changes", ""))
        if model := form.get("model", "").strip():
            changes["model"] = model
        system_runs.start(
            services(), form.get("system", ""), _benchmark(), changes, "gpu" if form.get("queue") == "gpu" else "cpu",
            limit=_limit(form.get("limit", "").strip()), publish="publish" in form,
        )  # fmt: skip
    except AqaError as error:
        return _page(error=error), error.status
    return redirect(url_for(".overview", benchmark=_benchmark()), 303)


@bp.post("/runs/<run_id>/resume")
@only("maintainer")
def resume(run_id: str) -> tuple[str, int] | Response:
    """Go on with a run that failed, or with ours that ran out of its budget, this time without one."""
    try:
        runs.resume(services(), run_id)
    except AqaError as error:
        return _page(error=error), error.status
    return redirect(url_for(".overview", benchmark=_benchmark()), 303)


def _limit(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text[:12]) < _LARGEST):
        raise InvalidInput(f"{text[:20]!r} is no number of questions.", "Write 1 or more, or leave it empty for all.")
    return int(text)


def _changes(text: str) -> dict[str, str]:
    """The components of the lines `COMPONENT=VALUE`."""
    changes = {}
    for line in text.splitlines():
        if line.strip():
            field, equals, value = line.partition("=")
            if not equals:
                raise InvalidInput(f"{line[:60]!r} sets no component.", "Write COMPONENT=VALUE, one a line.")
            changes[field.strip()] = value.strip()
    return changes


def _benchmark() -> str:
    named = request.form.get("benchmark") or request.args.get("benchmark", "")
    rows = services().benchmarks.all()
    return named or (rows[0].id if rows else "")


def _page(error: AqaError | None = None) -> str:
    benchmarks, chosen = services().benchmarks.all(), _benchmark()
    known = chosen in {row.id for row in benchmarks}
    systems = system_runs.told(services(), chosen if known else "")
    with services().database.reading() as session:
        found = system_runs.listed(session)[:_SHOWN]
    shown: dict[str, Any] = {
        "systems": systems,
        "runs": found,
        "sent": request.form,
        "error": error,
        "house": runs.TEAM,
    }
    return render_template("systems.html", benchmarks=benchmarks, chosen=chosen, **shown)
