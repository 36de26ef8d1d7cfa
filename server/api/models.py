"""Models of the Hub, checked and run for a team."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint, Schema, fields
from apiflask.validators import Length, OneOf, Range
from marshmallow import RAISE

from core.tables import RunRow
from server import models
from server.access import SUBMITTERS, only
from server.api.documents import answers
from server.api.schemas import CardIn
from server.context import services, signed_in
from server.forms import card_of
from server.limits import limited
from submissions.sources.model import Checked

bp = APIBlueprint("models", __name__, url_prefix="/models", tag="Models")


class ReferenceIn(Schema):
    """A model of the Hub."""

    reference = fields.String(
        required=True, validate=Length(max=300), metadata={"description": "owner/name@revision; pinned to a commit."}
    )


class CheckedOut(Schema):
    """What the Hub tells of a model; it can be run here where `refusals` is empty."""

    pinned = fields.String(required=True)
    architecture = fields.String(required=True, metadata={"description": "The class that its config names."})
    licence = fields.String(required=True)
    fetched_bytes = fields.Integer(required=True)
    refusals = fields.List(fields.String(), required=True)


class DecodingIn(Schema):
    """How it answers; what is left out stays as the reference system has it."""

    class Meta:
        unknown = RAISE

    k = fields.Integer(strict=True, validate=Range(min=1, max=models.MOST["k"]))
    P = fields.Integer(strict=True, validate=Range(min=1, max=models.MOST["P"]))
    A = fields.Integer(strict=True, validate=Range(min=1, max=models.MOST["A"]))
    shots = fields.Integer(strict=True, validate=Range(min=0, max=models.MOST["shots"]))
    max_new_tokens = fields.Integer(strict=True, validate=Range(min=1, max=models.MOST["max_new_tokens"]))
    k1 = fields.Float(validate=Range(min=0, max=models.MOST["k1"]))
    b = fields.Float(validate=Range(min=0, max=models.MOST["b"]))
    temperature = fields.Float(validate=Range(min=0, max=models.MOST["temperature"]))


class ModelIn(CardIn, ReferenceIn):
    """A model, the benchmark that it answers, and what to say of the system."""

    class Meta:
        unknown = RAISE

    architecture = fields.String(required=True, validate=OneOf(list(models.SYSTEMS)))
    benchmark = fields.String(required=True, validate=Length(max=64))
    decoding = fields.Nested(DecodingIn, load_default=dict)
    seed = fields.Integer(load_default=0, strict=True, validate=Range(min=0, max=2**31 - 1))


class RunItem(Schema):
    """A run, and the submission that its predictions became."""

    id = fields.String(required=True)
    benchmark = fields.String(attribute="benchmark_id", required=True)
    system = fields.String(required=True, metadata={"description": "The reference system that the model is run as."})
    model = fields.String(required=True, allow_none=True)
    state = fields.String(required=True, validate=OneOf(["queued", "running", "done", "partial", "failed"]))
    stage = fields.String(required=True)
    progress = fields.Float(required=True)
    reason = fields.String(allow_none=True, required=True)
    submission_id = fields.String(allow_none=True, required=True)
    created_at = fields.AwareDateTime(required=True)
    finished_at = fields.AwareDateTime(allow_none=True, required=True)


class RunOut(RunItem):
    """One run."""


class RunsOut(Schema):
    """The team's runs, newest first."""

    runs = fields.List(fields.Nested(RunItem), required=True)


@bp.post("/check")
@limited("files")
@only(*SUBMITTERS)
@bp.input(ReferenceIn)
@bp.output(CheckedOut)
@answers(bp, 400, 403, 404, 413, 422)
def check(json_data: dict[str, str]) -> Checked:
    """Look at a model and say what would be refused; nothing is stored and no quota is used"""
    return models.check(services().settings, json_data["reference"])


@bp.post("")
@limited("files")
@only(*SUBMITTERS)
@bp.input(ModelIn)
@bp.output(RunOut, status_code=202)
@answers(bp, 400, 403, 404, 409, 413, 422)
def submit(json_data: dict[str, Any]) -> dict[str, Any]:
    """Have a model answer a benchmark; its predictions enter like anybody's file"""
    sent, team_id = json_data, signed_in().team_id
    made = models.submit(
        services(), team_id, sent["reference"], sent["benchmark"], card_of(sent), sent["decoding"], seed=sent["seed"],
        publish=sent["publish"],
    )  # fmt: skip
    return _one(made)


@bp.get("")
@only(*SUBMITTERS)
@bp.output(RunsOut)
@answers(bp, 403)
def runs() -> dict[str, Any]:
    """The team's runs, newest first"""
    with services().database.reading() as session:
        return {"runs": [_out(row) for row in models.listed(session, signed_in().team_id)]}


@bp.get("/<run_id>")
@only(*SUBMITTERS)
@bp.output(RunOut)
@answers(bp, 403, 404)
def run(run_id: str) -> dict[str, Any]:
    """Where a run stands"""
    return _one(run_id)


def _one(run_id: str) -> dict[str, Any]:
    with services().database.reading() as session:
        return _out(models.own(session, signed_in().team_id, run_id))


def _out(row: RunRow) -> dict[str, Any]:
    shown = {name: getattr(row, field.attribute or name) for name, field in RunItem().fields.items() if name != "model"}
    shown["benchmark_id"] = shown.pop("benchmark")
    return shown | {"model": row.plan.get("changes", {}).get("model")}
