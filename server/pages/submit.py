"""The form to validate and submit a file; it works without JavaScript."""

from __future__ import annotations

from typing import Any, BinaryIO, cast

from apiflask import APIBlueprint
from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from core.errors import AqaError, InvalidInput
from server.access import SUBMITTERS, only
from server.context import services, signed_in
from server.forms import card_of
from server.limits import limited
from submissions import quotas
from submissions.report import report_to_dict

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
        file = request.files.get("file")
        if file is None or not file.filename:
            raise InvalidInput("No file was chosen.", "Choose a file of predictions.")
        stream = cast(BinaryIO, file.stream)
        if request.form.get("do") == "validate":
            found = services().intake.validate(sent["benchmark"], stream, file.filename)
            return _form(sent, report=report_to_dict(found.report), coverage=found.coverage, name=file.filename)
        made = services().intake.accept(
            signed_in().team_id, sent["benchmark"], card_of(sent), stream, file.filename, publish=sent["publish"]
        )
    except AqaError as error:
        return _form(sent, error=error), error.status
    return redirect(url_for("pages.submissions.one", submission_id=made.id), 303)


def _sent() -> dict[str, Any]:
    texts = ("benchmark", "system", "architecture", "supervision", "description")
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
