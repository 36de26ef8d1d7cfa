"""Large files in pieces that can be sent again."""

from __future__ import annotations

from typing import Any, BinaryIO, cast

from apiflask import APIBlueprint, Schema, fields
from apiflask.validators import Length, Range
from flask import request
from marshmallow import RAISE

from core.tables import Upload
from server import entries, pieces
from server.access import SUBMITTERS, only
from server.api.documents import answers
from server.api.schemas import CardIn, EntryOut
from server.context import services, signed_in
from server.entries import Entry
from server.limits import limited

bp = APIBlueprint("uploads", __name__, url_prefix="/uploads", tag="Submissions")


class UploadIn(Schema):
    """A file that will come in pieces."""

    name = fields.String(load_default="", validate=Length(max=255))
    size = fields.Integer(required=True, strict=True, validate=Range(min=1, max=2**50))


class UploadOut(Schema):
    """How far a file is: the next piece begins at byte `received`, and is at most `chunk_bytes` long."""

    id = fields.String(required=True)
    name = fields.String(required=True)
    size = fields.Integer(required=True)
    received = fields.Integer(required=True)
    chunk_bytes = fields.Integer(required=True)


class PieceIn(Schema):
    """Where the piece lies in the file."""

    range = fields.String(data_key="Content-Range", required=True, metadata={"example": "bytes 0-8388607/20000000"})


class FinishIn(CardIn):
    """What the whole file is for, and what to say of the system."""

    class Meta:
        unknown = RAISE

    benchmark = fields.String(required=True, validate=Length(max=64))


@bp.post("")
@limited("files")
@only(*SUBMITTERS)
@bp.input(UploadIn)
@bp.output(UploadOut, status_code=201)
@answers(bp, 400, 403, 409, 413)
def begin(json_data: dict[str, Any]) -> dict[str, Any]:
    """Announce a file; then PUT its pieces in order"""
    return _out(pieces.begin(services(), signed_in().team_id, json_data["name"], json_data["size"]))


@bp.get("/<upload_id>")
@only(*SUBMITTERS)
@bp.output(UploadOut)
@answers(bp, 403, 404)
def status(upload_id: str) -> dict[str, Any]:
    """How far a file is, to go on after a break"""
    with services().database.reading() as session:
        return _out(pieces.find(session, signed_in().team_id, upload_id))


@bp.put("/<upload_id>")
@only(*SUBMITTERS)
@bp.input(PieceIn, location="headers")
@bp.output(UploadOut)
@answers(bp, 400, 403, 404, 409, 413)
def piece(upload_id: str, headers_data: dict[str, str]) -> dict[str, Any]:
    """Send the next piece as the request's body; a piece that is there already does no harm"""
    request.max_content_length = services().settings.upload_chunk_mb * 2**20 + 1
    stream = cast(BinaryIO, request.stream)
    return _out(pieces.take(services(), signed_in().team_id, upload_id, headers_data["range"], stream))


@bp.delete("/<upload_id>")
@only(*SUBMITTERS)
@bp.output({}, status_code=204)
@answers(bp, 403, 404)
def drop(upload_id: str) -> str:
    """Forget a file that will not be submitted"""
    pieces.drop(services(), signed_in().team_id, upload_id)
    return ""


@bp.post("/<upload_id>/finish")
@limited("files")
@only(*SUBMITTERS)
@bp.input(FinishIn)
@bp.output(EntryOut, status_code=201)
@answers(bp, 400, 403, 404, 409, 413, 422)
def finish(upload_id: str, json_data: dict[str, Any]) -> Entry:
    """Submit the whole file; said again, it names the same submission"""
    who = signed_in()
    made = pieces.finish(services(), who.team_id, upload_id, json_data)
    with services().database.reading() as session:
        return entries.find(session, services().queue, who, made)


def _out(upload: Upload) -> dict[str, Any]:
    return {
        "id": upload.id, "name": upload.name, "size": upload.size, "received": upload.received,
        "chunk_bytes": services().settings.upload_chunk_mb * 2**20,
    }  # fmt: skip
