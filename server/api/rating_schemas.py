"""What goes in and out of the API's routes for human ratings."""

from __future__ import annotations

from apiflask import Schema, fields
from apiflask.validators import Length, OneOf, Range
from marshmallow import RAISE

from core import tabular
from server.api.schemas import ReportBody
from submissions.ratings.sheets import METHODS

_BEFORE = "Editing track: also the passages before editing, beside the same reports."


class RatingFileIn(Schema):
    """A file of ratings and the benchmark that they are for."""

    class Meta:
        unknown = RAISE

    file = fields.File(  # type: ignore[no-untyped-call]
        required=True, metadata={"description": "CSV, TSV, JSONL, JSON or Parquet; may be gzipped."}
    )
    benchmark = fields.String(required=True, validate=Length(max=64))
    synthetic = fields.Boolean(load_default=False, metadata={"description": "No person made these ratings."})
    skip_unknown = fields.Boolean(
        load_default=False, metadata={"description": "Leave out rows that cannot be rated, instead of refusing."}
    )


class ApplyIn(RatingFileIn):
    """The same, with what is kept beside the batch."""

    note = fields.String(load_default="", validate=Length(max=5_000))


class ConflictOut(Schema):
    """A row that replaces the same rater's earlier word."""

    row = fields.Integer(required=True)
    question = fields.String(required=True)
    answer = fields.String(required=True)
    passage_id = fields.String(required=True)
    rater = fields.String(required=True)
    earlier = fields.Boolean(required=True)
    now = fields.Boolean(required=True)
    batch_id = fields.Integer(required=True)


class UnheldOut(Schema):
    """A triple that no submission holds."""

    row = fields.Integer(required=True)
    answer = fields.String(required=True)
    attribution = fields.String(required=True)


class PreviewOut(Schema):
    """What a file of ratings holds and what applying it would do; nothing was stored."""

    benchmark = fields.String(required=True)
    accepted = fields.Boolean(required=True)
    applied_as = fields.Integer(
        allow_none=True, required=True, metadata={"description": "The batch that this very file is already."}
    )
    kind = fields.String(required=True, metadata={"description": "rater-level or pre-aggregated."})
    qualification = fields.Boolean(required=True)
    digest = fields.String(required=True)
    ratings = fields.Integer(required=True)
    triples = fields.Integer(required=True)
    raters = fields.List(fields.String(), required=True)
    raters_left_out = fields.List(fields.String(), required=True)
    new = fields.Integer(required=True)
    repeats = fields.Integer(required=True)
    conflicts = fields.Integer(required=True)
    unheld = fields.Integer(required=True)
    unknown_ids = fields.Integer(required=True)
    new_labels = fields.Integer(required=True)
    verdicts_changed = fields.Integer(required=True)
    submissions = fields.List(fields.String(), required=True)
    conflict_rows = fields.List(fields.Nested(ConflictOut), required=True)
    unheld_rows = fields.List(fields.Nested(UnheldOut), required=True)
    report = fields.Nested(ReportBody, required=True)


class BatchItem(Schema):
    """A batch of ratings."""

    id = fields.Integer(required=True)
    benchmark = fields.String(required=True)
    state = fields.String(required=True, validate=OneOf(["open", "applied", "revoked"]))
    file = fields.String(required=True)
    digest = fields.String(required=True)
    sheet = fields.Integer(allow_none=True, required=True)
    author = fields.String(required=True)
    note = fields.String(required=True)
    synthetic = fields.Boolean(required=True)
    qualification = fields.Boolean(required=True)
    ratings = fields.Integer(required=True)
    triples = fields.Integer(required=True)
    raters = fields.Integer(required=True)
    applied_at = fields.String(allow_none=True, required=True)
    revoked_at = fields.String(allow_none=True, required=True)
    revoked_by = fields.String(allow_none=True, required=True)


class BatchOut(BatchItem):
    """One batch of ratings."""


class BatchesOut(Schema):
    """Batches, oldest first."""

    batches = fields.List(fields.Nested(BatchItem), required=True)


class BenchmarkQuery(Schema):
    """Which benchmark."""

    benchmark = fields.String(load_default=None, validate=Length(max=64))


class ExportQuery(Schema):
    """What to export, of which benchmark, and as what."""

    benchmark = fields.String(required=True, validate=Length(max=64))
    what = fields.String(load_default="labels", validate=OneOf(["labels", "ratings"]))
    kind = fields.String(load_default="csv", validate=OneOf(tabular.KINDS))


class AgreementOut(Schema):
    """Agreement in a batch: see docs/statistics.md."""

    batch = fields.Integer(required=True)
    overall = fields.Dict(keys=fields.String(), required=True)
    by_type = fields.Dict(keys=fields.String(), required=True)
    accuracy = fields.List(fields.Dict(keys=fields.String()), required=True)


class LeaveOutIn(Schema):
    """Which rater of which benchmark, and why."""

    class Meta:
        unknown = RAISE

    benchmark = fields.String(required=True, validate=Length(max=64))
    rater = fields.String(required=True, validate=Length(min=1, max=200))
    reason = fields.String(load_default="", validate=Length(max=1_000))


class RaterItem(Schema):
    """A rater who is or was left out of a benchmark's labels."""

    rater = fields.String(required=True)
    reason = fields.String(required=True)
    left_out_by = fields.String(required=True)
    left_out_at = fields.String(required=True)
    taken_back_by = fields.String(allow_none=True, required=True)
    taken_back_at = fields.String(allow_none=True, required=True)


class RaterOut(RaterItem):
    """One rater who is or was left out."""


class RatersOut(Schema):
    """Everyone who was ever left out, oldest first."""

    raters = fields.List(fields.Nested(RaterItem), required=True)


class RatersQuery(Schema):
    """Which benchmark."""

    benchmark = fields.String(required=True, validate=Length(max=64))


class SheetIn(Schema):
    """How to draw a sheet."""

    class Meta:
        unknown = RAISE

    benchmark = fields.String(required=True, validate=Length(max=64))
    method = fields.String(load_default="all", validate=OneOf(METHODS))
    size = fields.Integer(load_default=None, allow_none=True, validate=Range(min=1, max=1_000_000))
    seed = fields.Integer(load_default=0, validate=Range(min=0, max=2**31 - 1))
    submissions = fields.List(fields.String(), load_default=list, validate=Length(max=1_000))
    before = fields.Boolean(load_default=False, metadata={"description": _BEFORE})


class SheetOut(Schema):
    """A drawn sheet."""

    id = fields.Integer(required=True)
    benchmark = fields.String(attribute="benchmark_id", required=True)
    method = fields.String(required=True)
    seed = fields.Integer(required=True)
    population = fields.Integer(
        required=True, metadata={"description": "Unrated triples (editing track: texts) it was drawn from."}
    )
    submissions = fields.List(fields.String(), required=True)
    author = fields.String(required=True)


class SheetQuery(Schema):
    """As what kind of file."""

    kind = fields.String(load_default="csv", validate=OneOf(tabular.KINDS))


class RevisionsQuery(SheetQuery):
    """Which revisions to put on a sheet."""

    benchmark = fields.String(required=True, validate=Length(max=64))
    submission = fields.List(fields.String(validate=Length(max=64)), load_default=list, validate=Length(max=1_000))
    size = fields.Integer(load_default=None, allow_none=True, validate=Range(min=1, max=1_000_000))
    seed = fields.Integer(load_default=0, validate=Range(min=0, max=2**31 - 1))
    before = fields.Boolean(load_default=False, metadata={"description": _BEFORE})
