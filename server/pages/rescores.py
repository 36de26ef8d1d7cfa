"""The maintainers' pages of scoring anew: how far it is, and old and new side by side."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from core.errors import AqaError, InvalidInput, NotFound
from core.tracks import WORDS
from server import rescore_reading as reading
from server import rescores
from server.access import only
from server.addresses import number
from server.context import services

bp = APIBlueprint("rescores", __name__, url_prefix="/rescores", enable_openapi=False)
_PAGE = 50


@bp.get("")
@only("maintainer")
def overview() -> str:
    """One page of the rescores, newest first."""
    before = request.args.get("before", "")
    start = number(before, "rescore") if before else 0
    with services().database.reading() as session:
        rows = reading.listed(session, before=start, limit=_PAGE + 1)
        found = reading.documents(session, rows[:_PAGE])
    older = rows[_PAGE - 1].id if len(rows) > _PAGE else None
    return render_template("rescores.html", rescores=found, older=older, before=before)


@bp.get("/<rescore_id>")
@only("maintainer")
def one(rescore_id: str) -> str:
    """One rescore: the whole page."""
    return _page("rescore.html", number(rescore_id, "rescore"))


@bp.get("/<rescore_id>/live")
@only("maintainer")
def live(rescore_id: str) -> str:
    """The part of the page that changes."""
    return _page("_rescore.html", number(rescore_id, "rescore"))


@bp.post("/<rescore_id>/<what>")
@only("maintainer")
def end(rescore_id: str, what: str) -> tuple[str, int] | Response:
    """Promote it, or drop it."""
    identifier = number(rescore_id, "rescore")
    if what not in ("promote", "drop"):
        raise NotFound("There is nothing at this address.", "Check the address.")
    try:
        if what == "drop":
            rescores.drop(services(), identifier)
        else:
            rescores.promote(services(), identifier, request.form.getlist("leave_out"))
    except AqaError as error:
        return _page("rescore.html", identifier, error=error), error.status
    return redirect(url_for(".one", rescore_id=identifier), 303)


def _page(template: str, identifier: int, **shown: Any) -> str:
    rank_by = request.args.get("rank_by", "")[:40]
    with services().database.reading() as session:
        row = reading.found(session, identifier)
        try:
            found = reading.compared(session, row, services().differences, rank_by)
        except InvalidInput:
            found = reading.compared(session, row, services().differences)
        told = reading.document(session, row)
    words = WORDS[services().benchmarks.row(told["benchmark"]).track]
    return render_template(template, rescore=told, found=found, rank_by=rank_by, words=words, **shown)
