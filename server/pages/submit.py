"""The form to validate and submit a file; it works without JavaScript."""

from __future__ import annotations

from typing import Any, BinaryIO, cast

from apiflask import APIBlueprint
from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from core.errors import AqaError, InvalidInput
from server import references
from server.access import SUBMITTERS, only
from server.context import services, signed_in
from server.idempotency import once
from server.limits import limited
from submissions import quotas
from submissions.report import report_to_dict
from submissions.tracks import Read

bp = APIBlueprint("submit", __name__, enable_openapi=False)


@bp.get("/submit")
@only(*SUBMITTERS)
def form() -> str:
    """The empty form."""
    return _form({"benchmark": request.args.get("benchmark", "")})


@bp.post("/submit")
@limited("files")
@only(*SUBMITTERS)
def send() -> tuple[str, int] | str | Response:
    """Validate or submit the file; what is wrong is shown above the form, which keeps what was typed."""
    sent = _sent()
    try:
        brought = _brought()
        if request.form.get("do") == "validate":
            found, name = _validated(sent["benchmark"], brought)
            track = services().benchmarks.get(sent["benchmark"]).track
            return _form(sent, report=report_to_dict(found.report), coverage=found.coverage, name=name, track=track)
        made = once(services(), signed_in().team_id, "", sent | brought)
    except AqaError as error:
        return _form(sent, error=error), error.status
    return redirect(url_for("pages.submissions.one", submission_id=made), 303)


def _brought() -> dict[str, Any]:
    """The file that was chosen, or the reference that was written. Raises `InvalidInput` unless it is one of them."""
    file, reference = request.files.get("file"), request.form.get("reference", "").strip()
    chosen = file is not None and bool(file.filename)
    if chosen and reference:
        raise InvalidInput("A file was chosen and a reference was written.", "Leave one of them out.")
    if reference:
        return {"reference": reference}
    if not chosen:
        raise InvalidInput("No file was chosen.", "Choose a file of predictions, or write where one lies on the Hub.")
    return {"file": file}


def _validated(benchmark: str, brought: dict[str, Any]) -> tuple[Read, str]:
    services().benchmarks.get(benchmark)
    if "reference" in brought:
        fetched = references.fetched(services().settings, brought["reference"])
        return services().intake.validate(benchmark, fetched.stream, fetched.name), str(fetched.reference)
    file = brought["file"]
    return services().intake.validate(benchmark, cast(BinaryIO, file.stream), file.filename), file.filename


def _sent() -> dict[str, Any]:
    texts = ("benchmark", "system", "architecture", "supervision", "description", "reference", "size")
    return {name: request.form.get(name, "") for name in texts} | {
        "links": request.form.getlist("links"),
        "uses_autoais": "uses_autoais" in request.form,
        "publish": "publish" in request.form,
    }


def _form(sent: dict[str, Any], **shown: Any) -> str:
    settings, who = services().settings, signed_in()
    with services().database.reading() as session:
        used = quotas.used_today(session, who.team_id)
    left = max(settings.submissions_per_day - used, 0) if settings.submissions_per_day else None
    return render_template(
        "submit.html", benchmarks=services().benchmarks.all(), sent=sent, left=left, settings=settings, **shown
    )
