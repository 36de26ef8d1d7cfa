"""The catalog of reference systems for anybody, and their runs for maintainers."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint, Schema, fields
from apiflask.validators import Length, OneOf, Range
from marshmallow import RAISE

from server import runs, system_runs
from server.access import only, public
from server.api.documents import answers
from server.api.models import RunItem
from server.context import services
from server.limits import limited
from systems import catalog

bp = APIBlueprint("systems", __name__, url_prefix="/systems", tag="Reference systems")
_SECONDS = {"description": "Most seconds to spend over all attempts; what is answered by then is entered."}
_TOKENS = {"description": "Most tokens, read and written, to spend over all attempts."}
_CHANGES = {"description": "Component → value in place of the configured one; `settable` names the components."}


class SystemsQuery(Schema):
    """With a benchmark: only the systems that can run on it, and `entered` where they have."""

    benchmark = fields.String(load_default="", validate=Length(max=64))


class ComponentOut(Schema):
    """One choice: its value, whether the paper's text states it or we inferred it, and then why."""

    value = fields.Raw(required=True)
    origin = fields.String(required=True, validate=OneOf(["stated", "inferred"]))
    why = fields.String(allow_none=True, required=True)


class ReferenceSystem(Schema):
    """A system of the catalog; `needs` names the components that have to be handed in, and what the paper used."""

    name = fields.String(required=True)
    title = fields.String(required=True)
    architecture = fields.String(required=True)
    supervision = fields.String(required=True)
    uses_autoais = fields.Boolean(required=True)
    source = fields.String(required=True)
    notes = fields.String(required=True)
    components = fields.Dict(keys=fields.String(), values=fields.Nested(ComponentOut), required=True)
    needs = fields.Dict(keys=fields.String(), values=fields.String(), required=True)
    settable = fields.List(fields.String(), required=True)
    entered = fields.Boolean(metadata={"description": "With a benchmark: whether it has entered predictions there."})


class ReferenceSystemOut(ReferenceSystem):
    """One system of the catalog."""


class ReferenceSystemsOut(Schema):
    """The catalog."""

    systems = fields.List(fields.Nested(ReferenceSystem), required=True)


class BudgetIn(Schema):
    """What a run may spend."""

    class Meta:
        unknown = RAISE

    seconds = fields.Float(load_default=None, allow_none=True, validate=Range(min=0, max=1e8), metadata=_SECONDS)
    tokens = fields.Integer(
        load_default=None, allow_none=True, strict=True, validate=Range(min=0, max=10**12), metadata=_TOKENS
    )


class SystemRunIn(BudgetIn):
    """What a run of a reference system is asked to do."""

    benchmark = fields.String(required=True, validate=Length(max=64))
    limit = fields.Integer(
        load_default=None, allow_none=True, strict=True, validate=Range(min=1, max=10**9),
        metadata={"description": "Answer only the first so many questions."},
    )  # fmt: skip
    changes = fields.Dict(
        keys=fields.String(validate=Length(max=40)), values=fields.String(validate=Length(max=300)),
        load_default=dict, metadata=_CHANGES,
    )  # fmt: skip
    seed = fields.Integer(load_default=0, strict=True, validate=Range(min=0, max=2**31 - 1))
    publish = fields.Boolean(load_default=False)
    queue = fields.String(load_default="cpu", validate=OneOf(["cpu", "gpu"]))


class SystemRunItem(RunItem):
    """A run with all that it was asked and all that it rested on."""

    team = fields.String(required=True)
    changes = fields.Dict(keys=fields.String(), values=fields.String(), required=True)
    limit = fields.Integer(allow_none=True, required=True)
    details = fields.Dict(keys=fields.String(), required=True)


class SystemRunOut(SystemRunItem):
    """One run."""


class SystemRunsOut(Schema):
    """The newest runs of everybody, newest first."""

    runs = fields.List(fields.Nested(SystemRunItem), required=True)


@bp.get("")
@public
@bp.input(SystemsQuery, location="query")
@bp.output(ReferenceSystemsOut)
@answers(bp, 400, 404, token=False)
def systems(query_data: dict[str, str]) -> dict[str, Any]:
    """The catalog of reference systems"""
    return {"systems": system_runs.told(services(), query_data["benchmark"])}


@bp.get("/<name>")
@public
@bp.output(ReferenceSystemOut)
@answers(bp, 404, token=False)
def system(name: str) -> dict[str, Any]:
    """One system: each component, and whether the paper states it"""
    return system_runs.described(catalog.find(name))


@bp.post("/<name>/runs")
@limited("files")
@only("maintainer")
@bp.input(SystemRunIn)
@bp.output(SystemRunOut, status_code=202)
@answers(bp, 400, 403, 404)
def start(name: str, json_data: dict[str, Any]) -> dict[str, Any]:
    """Have a reference system answer a benchmark; its predictions enter like anybody's file"""
    return _one(system_runs.start(services(), name, **json_data))


@bp.get("/runs")
@only("maintainer")
@bp.output(SystemRunsOut)
@answers(bp, 403)
def all_runs() -> dict[str, Any]:
    """The newest runs, of reference systems and of teams' models"""
    with services().database.reading() as session:
        return {"runs": system_runs.listed(session)}


@bp.get("/runs/<run_id>")
@only("maintainer")
@bp.output(SystemRunOut)
@answers(bp, 403, 404)
def run(run_id: str) -> dict[str, Any]:
    """Where a run stands"""
    return _one(run_id)


@bp.post("/runs/<run_id>/resume")
@limited("files")
@only("maintainer")
@bp.input(BudgetIn)
@bp.output(SystemRunOut, status_code=202)
@answers(bp, 400, 403, 404, 409)
def resume(run_id: str, json_data: dict[str, Any]) -> dict[str, Any]:
    """Go on with a run that failed or ran out of its budget; what it has answered is kept"""
    runs.resume(services(), run_id, **json_data)
    return _one(run_id)


def _one(run_id: str) -> dict[str, Any]:
    with services().database.reading() as session:
        return system_runs.one(session, run_id)
