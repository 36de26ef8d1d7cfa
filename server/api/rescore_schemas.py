"""What goes in and out of the API's routes for scoring anew."""

from __future__ import annotations

from apiflask import Schema, fields
from apiflask.validators import Length, OneOf

from server.api.paging import PageQuery, text_filter
from submissions.rescoring import DROPPED, OPEN, PROMOTED


class RescoresQuery(PageQuery):
    """Of one benchmark, or of all."""

    benchmark = text_filter(64)


class RankByQuery(Schema):
    """The metric whose ranks are told."""

    rank_by = text_filter(40)


class PromoteIn(Schema):
    """Submissions that keep their scores, in a column apart."""

    leave_out = fields.List(fields.String(validate=Length(max=24)), load_default=list, validate=Length(max=1_000))


class LackingItem(Schema):
    """An entry without new scores, and why."""

    submission = fields.String(required=True)
    system = fields.String(required=True)
    version = fields.Integer(required=True)
    why = fields.String(required=True)


class RescoreItemOut(Schema):
    """One benchmark's entries under another recipe, and how far that is."""

    id = fields.Integer(required=True)
    benchmark = fields.String(required=True)
    judge = fields.String(required=True)
    recipe = fields.String(required=True)
    released_too = fields.Boolean(required=True)
    state = fields.String(required=True, validate=OneOf([OPEN, PROMOTED, DROPPED]))
    created_at = fields.AwareDateTime(required=True)
    ended_at = fields.AwareDateTime(allow_none=True, required=True)
    entries = fields.Integer(required=True)
    done = fields.Integer(required=True)
    failed = fields.Integer(required=True)
    lacking = fields.List(fields.Nested(LackingItem), required=True)
    ready = fields.Boolean(required=True, metadata={"description": "Nothing keeps it from being promoted."})


class RescoresOut(Schema):
    """Rescores, newest first."""

    rescores = fields.List(fields.Nested(RescoreItemOut), required=True)


class RankOut(Schema):
    """The places that a system may hold."""

    best = fields.Integer(required=True)
    worst = fields.Integer(required=True)
    systems = fields.Integer(required=True)


class ChangeOut(Schema):
    """One metric before and after, with 95 % intervals; `changed` of `n` questions have another value.

    The interval of the difference is paired by question; where it is missing, `reason` says why.
    """

    before = fields.Float(allow_none=True, required=True)
    interval_before = fields.List(fields.Float(), allow_none=True, required=True)
    n_before = fields.Integer(required=True)
    after = fields.Float(allow_none=True, required=True)
    interval_after = fields.List(fields.Float(), allow_none=True, required=True)
    n_after = fields.Integer(allow_none=True, required=True)
    difference = fields.Float(allow_none=True, required=True)
    interval_difference = fields.List(fields.Float(), allow_none=True, required=True)
    changed = fields.Integer(allow_none=True, required=True)
    n = fields.Integer(allow_none=True, required=True)
    signature_before = fields.String(required=True)
    signature_after = fields.String(required=True)
    reason = fields.String(allow_none=True, required=True)


class LineOut(Schema):
    """One system of the board before and after."""

    system_id = fields.Integer(required=True)
    system = fields.String(required=True)
    team = fields.String(required=True)
    submission = fields.String(required=True)
    version = fields.Integer(required=True)
    ready = fields.Boolean(required=True)
    metrics = fields.Dict(keys=fields.String(), values=fields.Nested(ChangeOut), required=True)
    rank_before = fields.Nested(RankOut, allow_none=True, required=True)
    rank_after = fields.Nested(RankOut, allow_none=True, required=True)
    moved = fields.String(required=True, metadata={"description": "up or down: clear of its old places; overlaps."})


class SideBySideOut(Schema):
    """Old and new of every system on the board."""

    benchmark = fields.String(required=True)
    metrics = fields.Dict(keys=fields.String(), values=fields.String(), required=True)
    rank_by = fields.String(allow_none=True, required=True)
    lines = fields.List(fields.Nested(LineOut), required=True)


class RescoreOut(RescoreItemOut):
    """One rescore."""


class ComparedOut(RescoreItemOut):
    """One rescore with old and new side by side."""

    side_by_side = fields.Nested(SideBySideOut, required=True)
