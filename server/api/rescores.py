"""Scoring anew under another recipe; for maintainers. It is started by a command, where the judge is."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint

from server import rescore_reading as reading
from server import rescores
from server.access import only
from server.addresses import number
from server.api.documents import answers
from server.api.rescore_schemas import (
    ComparedOut,
    PromoteIn,
    RankByQuery,
    RescoreOut,
    RescoresOut,
    RescoresQuery,
)
from server.context import services

bp = APIBlueprint("rescores", __name__, tag="Maintenance")


@bp.get("/rescores")
@only("maintainer")
@bp.input(RescoresQuery, location="query")
@bp.output(RescoresOut)
@answers(bp, 400, 403)
def listed(query_data: dict[str, Any]) -> dict[str, Any]:
    """Rescores, newest first; go on with `before`, the last rescore's id"""
    before, limit = query_data["before"], query_data["limit"]
    with services().database.reading() as session:
        rows = reading.listed(session, query_data["benchmark"], before=before, limit=limit)
        return {"rescores": reading.documents(session, rows)}


@bp.get("/rescores/<rescore_id>")
@only("maintainer")
@bp.input(RankByQuery, location="query")
@bp.output(ComparedOut)
@answers(bp, 400, 403, 404)
def one(rescore_id: str, query_data: dict[str, str]) -> dict[str, Any]:
    """One rescore: old and new of every system on the board, side by side"""
    with services().database.reading() as session:
        row = reading.found(session, number(rescore_id, "rescore"))
        found = reading.compared(session, row, services().differences, query_data["rank_by"])
        return reading.document(session, row) | {"side_by_side": found.to_dict()}


@bp.post("/rescores/<rescore_id>/promote")
@only("maintainer")
@bp.input(PromoteIn)
@bp.output(RescoreOut)
@answers(bp, 400, 403, 404, 409, 413)
def promote(rescore_id: str, json_data: dict[str, list[str]]) -> dict[str, Any]:
    """Show the new scores of all entries at once"""
    row = rescores.promote(services(), number(rescore_id, "rescore"), json_data["leave_out"])
    return _told(row.id)


@bp.post("/rescores/<rescore_id>/drop")
@only("maintainer")
@bp.output(RescoreOut)
@answers(bp, 403, 404, 409)
def drop(rescore_id: str) -> dict[str, Any]:
    """Give it up; what is shown stays"""
    return _told(rescores.drop(services(), number(rescore_id, "rescore")).id)


def _told(rescore_id: int) -> dict[str, Any]:
    with services().database.reading() as session:
        return reading.document(session, reading.found(session, rescore_id))
