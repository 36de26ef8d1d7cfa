"""Dated snapshots of a board, which never change."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint, Schema, fields
from apiflask.validators import Length, OneOf
from flask import Response

from leaderboard import exports, snapshots
from server.access import public
from server.addresses import number
from server.api.documents import answers
from server.context import services
from server.downloads import TYPES, attachment

bp = APIBlueprint("snapshots", __name__, tag="Leaderboard")


class SnapshotsQuery(Schema):
    """Which board."""

    benchmark = fields.String(required=True, validate=Length(max=64))


class SnapshotQuery(Schema):
    """In which form."""

    kind = fields.String(load_default="json", validate=OneOf(list(exports.KINDS)))


class SnapshotOut(Schema):
    """A snapshot without its board."""

    id = fields.Integer(required=True)
    taken_at = fields.AwareDateTime(required=True)
    systems = fields.Integer(required=True)
    rank_by = fields.String(allow_none=True, required=True)
    digest = fields.String(required=True, metadata={"description": "Equal for equal boards, names left aside."})


class SnapshotsOut(Schema):
    """A benchmark's snapshots, newest first."""

    snapshots = fields.List(fields.Nested(SnapshotOut), required=True)


@bp.get("/leaderboard/snapshots")
@public
@bp.input(SnapshotsQuery, location="query")
@bp.output(SnapshotsOut)
@answers(bp, 400, 404, token=False)
def listed(query_data: dict[str, Any]) -> dict[str, Any]:
    """The dated snapshots of a board, newest first; one is taken a day where the board has changed"""
    with services().database.reading() as session:
        return {"snapshots": snapshots.taken(session, query_data["benchmark"])}


@bp.get("/leaderboard/snapshots/<snapshot_id>")
@public
@bp.input(SnapshotQuery, location="query")
@answers(bp, 400, 404, token=False, files={TYPES[kind]: kind for kind in exports.KINDS})
def download(snapshot_id: str, query_data: dict[str, Any]) -> Response:
    """A board as it was, as a file"""
    with services().database.reading() as session:
        found = snapshots.find(session, number(snapshot_id, "snapshot"))
        data, name = exports.export(snapshots.restore(session, found), query_data["kind"])
    return attachment(data, f"{found.taken_at:%Y-%m-%d}-{name}")
