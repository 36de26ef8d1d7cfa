"""Submitting a file that lies on the Hub by its reference."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint, Schema, fields
from apiflask.validators import Length
from marshmallow import EXCLUDE, RAISE

from server import entries, references
from server.access import SUBMITTERS, only
from server.api.documents import answers
from server.api.schemas import CardIn, EntryOut, IdempotencyIn, ValidationOut
from server.api.submissions import validation
from server.context import services, signed_in
from server.entries import Entry
from server.idempotency import once
from server.limits import limited

bp = APIBlueprint("references", __name__, url_prefix="/references", tag="Submissions")


class ReferenceIn(Schema):
    """A file on the Hub and the benchmark that it is for; a submission's other fields may stand beside them."""

    class Meta:
        unknown = EXCLUDE

    reference = fields.String(
        required=True,
        validate=Length(max=1_000),
        metadata={"description": "Pinned to a commit.", "example": "hf://datasets/owner/repo/predictions.jsonl@main"},
    )
    benchmark = fields.String(required=True, validate=Length(max=64))


class ReferencedIn(CardIn, ReferenceIn):
    """A file on the Hub, the benchmark that it is for, and what to say of the system."""

    class Meta:
        unknown = RAISE


@bp.post("/validate")
@limited("files")
@only(*SUBMITTERS)
@bp.input(ReferenceIn)
@bp.output(ValidationOut)
@answers(bp, 400, 403, 404, 413)
def validate(json_data: dict[str, str]) -> dict[str, Any]:
    """Read a file on the Hub and report on it; nothing is stored and no quota is used"""
    services().benchmarks.get(json_data["benchmark"])
    file = references.fetched(services().settings, json_data["reference"])
    found = services().intake.validate(json_data["benchmark"], file.stream, file.name)
    return validation(json_data["benchmark"], found)


@bp.post("")
@limited("files")
@only(*SUBMITTERS)
@bp.input(IdempotencyIn, location="headers")
@bp.input(ReferencedIn)
@bp.output(EntryOut, status_code=201)
@answers(bp, 400, 403, 404, 409, 413, 422)
def submit(headers_data: dict[str, Any], json_data: dict[str, Any]) -> Entry:
    """Submit a file on the Hub, as it is at the reference now; its evaluation is queued

    A request that is sent again with the same `Idempotency-Key` gets the submission that the first one made.
    """
    made = once(services(), signed_in().team_id, headers_data["key"], json_data)
    with services().database.reading() as session:
        return entries.find(session, services().queue, signed_in(), made)
