"""Scoring anew under another recipe; for maintainers. It is started by a command, where the judge is."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint

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
def listed(query_data: dict[str, str]) -> dict[str, Any]:
    """All rescores, newest first"""
    with services().database.reading() as session:
        found = rescores.listed(session, query_data["benchmark"])
        return {"rescores": [rescores.document(session, row) for row in found]}


@bp.get("/rescores/<rescore_id>")
@only("maintainer")
@bp.input(RankByQuery, location="query")
@bp.output(ComparedOut)
@answers(bp, 400, 403, 404)
def one(rescore_id: str, query_data: dict[str, str]) -> dict[str, Any]:
    """One rescore: old and new of every system on the board, side by side"""
    with services().database.reading() as session:
        row = rescores.find(session, number(rescore_id, "rescore"))
        found = rescores.compared(session, row, query_data["rank_by"])
        return rescores.document(session, row) | {"side_by_side": found.to_dict()}


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
        return rescores.document(session, rescores.find(session, rescore_id))
