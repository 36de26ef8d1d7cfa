"""The leaderboard as JSON; the page shows the same rows."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response, request

from leaderboard import board, exports
from server.access import public
from server.api.documents import answers
from server.api.schemas import BoardDownloadQuery, BoardOut, BoardQuery
from server.context import services
from server.downloads import TYPES, attachment

bp = APIBlueprint("leaderboard", __name__, tag="Leaderboard")


@bp.get("/leaderboard")
@public
@bp.input(BoardQuery, location="query")
@bp.output(BoardOut)
@answers(bp, 400, 404, token=False)
def leaderboard(query_data: dict[str, Any]) -> Response:
    """The latest published version of every system, with intervals and rank intervals

    Sent back as `If-None-Match`, the answer's `ETag` gets 304 and no body while the board is the same.
    """
    found = services().board_json.get(query_data["benchmark"], query_data["rank_by"] or "")
    response = Response(found.data, mimetype="application/json")
    response.set_etag(found.etag)
    response.headers["Cache-Control"] = "no-cache"  # may be kept, but must be asked about each time
    return response.make_conditional(request)  # type: ignore[return-value]


@bp.get("/leaderboard/download")
@public
@bp.input(BoardDownloadQuery, location="query")
@answers(bp, 400, 404, token=False, files={TYPES[kind]: kind for kind in exports.KINDS})
def leaderboard_download(query_data: dict[str, Any]) -> Response:
    """The same as a file: one row per system, each number with interval, n and signature"""
    with services().database.reading() as session:
        found = board.rows(session, query_data["benchmark"], rank_by=query_data["rank_by"])
    return attachment(*exports.export(found, query_data["kind"]))
