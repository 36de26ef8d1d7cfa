"""What goes in and out of API v1; the OpenAPI document is made from these."""

from __future__ import annotations

from apiflask import Schema, fields
from apiflask.validators import Length, OneOf
from marshmallow import EXCLUDE, RAISE

from core.architectures import ARCHITECTURES
from core.states import STATES
from core.tracks import TRACKS
from leaderboard import exports
from server import results


class PlaceOut(Schema):
    """One place in a file that a person should look at; `row` counts data rows from 1."""

    row = fields.Integer(allow_none=True)
    kind = fields.String()
    message = fields.String()
    excerpt = fields.String()


class ErrorBody(Schema):
    """What went wrong, what to do about it, and where to look."""

    code = fields.String(required=True)
    message = fields.String(required=True)
    hint = fields.String(required=True)
    places = fields.List(fields.Nested(PlaceOut), required=True)


class ErrorOut(Schema):
    """The one shape of every error."""

    error = fields.Nested(ErrorBody, required=True)


class ReportBody(Schema):
    """What reading a file found; the same on web, API and command line."""

    accepted = fields.Boolean(required=True)
    counts = fields.Dict(keys=fields.String(), values=fields.Integer(), required=True)
    fatal = fields.List(fields.String(), required=True)
    notes = fields.List(fields.String(), required=True)
    places = fields.List(fields.Nested(PlaceOut), required=True)
    places_left_out = fields.Integer(required=True)


class ReportOut(ReportBody):
    """The report of a submission's file."""


class ValidationOut(Schema):
    """What submitting the file would find; nothing was stored. `digest` and `coverage` are null if it is refused."""

    benchmark = fields.String(required=True)
    coverage = fields.Float(allow_none=True, required=True)
    digest = fields.String(allow_none=True, required=True)
    report = fields.Nested(ReportBody, required=True)


class ValidationIn(Schema):
    """A file and the benchmark that it is for; a submission's other fields may stand beside them."""

    class Meta:
        unknown = EXCLUDE

    file = fields.File(  # type: ignore[no-untyped-call]
        required=True, metadata={"description": "CSV, TSV, JSONL, JSON or Parquet; may be gzipped."}
    )
    benchmark = fields.String(required=True, validate=Length(max=64))


class CardIn(Schema):
    """What to say of the system."""

    system = fields.String(required=True, metadata={"description": "Name; the same name again makes a new version."})
    architecture = fields.String(load_default="unknown", validate=OneOf(list(ARCHITECTURES)))
    supervision = fields.String(load_default="", metadata={"description": "What the system learned from."})
    description = fields.String(load_default="")
    links = fields.List(fields.String(), load_default=list, metadata={"description": "Web addresses."})
    uses_autoais = fields.Boolean(
        load_default=False, metadata={"description": "True if an AutoAIS model works inside the system."}
    )
    size = fields.Float(
        load_default=None, allow_none=True, metadata={"description": "Billions of parameters over all its models."}
    )
    publish = fields.Boolean(load_default=False, metadata={"description": "Show it on the board once it is scored."})


class SubmissionIn(CardIn, ValidationIn):
    """A file, the benchmark that it is for, and what to say of the system."""

    class Meta:
        unknown = RAISE


class IdempotencyIn(Schema):
    """A key of the sender's own choice that makes it safe to send a submission again."""

    key = fields.String(data_key="Idempotency-Key", load_default="", validate=Length(max=200))


class EntryOut(Schema):
    """One version of a system on a benchmark, and where its evaluation stands."""

    id = fields.String(required=True)
    benchmark = fields.String(required=True)
    system = fields.String(required=True)
    team = fields.String(required=True)
    architecture = fields.String(required=True)
    supervision = fields.String(required=True)
    description = fields.String(required=True)
    links = fields.List(fields.String(), required=True)
    uses_autoais = fields.Boolean(required=True)
    size = fields.Float(allow_none=True, required=True, metadata={"description": "Billions of parameters, if said."})
    version = fields.Integer(required=True)
    digest = fields.String(required=True)
    coverage = fields.Float(required=True)
    state = fields.String(required=True, validate=OneOf(STATES))
    stage = fields.String(required=True)
    progress = fields.Float(required=True, metadata={"description": "0 to 1."})
    queue_position = fields.Integer(
        allow_none=True, required=True, metadata={"description": "Jobs that stand before it; null once it runs."}
    )
    reason = fields.String(allow_none=True, required=True)
    retry_at = fields.AwareDateTime(
        allow_none=True, required=True, metadata={"description": "When it is tried again after a failure, if it waits."}
    )
    source = fields.String(
        allow_none=True, required=True, metadata={"description": "Where its file was fetched from; its team's to see."}
    )
    published = fields.Boolean(required=True)
    created_at = fields.AwareDateTime(required=True)
    published_at = fields.AwareDateTime(allow_none=True, required=True)
    withdrawn_at = fields.AwareDateTime(allow_none=True, required=True)


class EntriesOut(Schema):
    """The entries of a team, newest first."""

    submissions = fields.List(fields.Nested(EntryOut), required=True)


class EntriesQuery(Schema):
    """Which of the team's entries."""

    benchmark = fields.String(load_default=None, validate=Length(max=64))


class DownloadQuery(Schema):
    """Which form of the scored outputs."""

    kind = fields.String(load_default="jsonl", validate=OneOf(results.KINDS))


class TemplateQuery(Schema):
    """Which type of file."""

    kind = fields.String(load_default="csv", validate=OneOf(["csv", "jsonl"]))


class BenchmarkItem(Schema):
    """A benchmark; `synthetic` says that its human ratings are simulated."""

    id = fields.String(required=True)
    title = fields.String(required=True)
    description = fields.String(required=True)
    content_hash = fields.String(required=True)
    track = fields.String(required=True, validate=OneOf(list(TRACKS)))
    questions = fields.Integer(
        attribute="question_count", required=True, metadata={"description": "Or passages to edit, in that track."}
    )
    rated = fields.Integer(attribute="rated_count", required=True)
    passages = fields.Integer(attribute="corpus_size", required=True)
    raters_per_item = fields.Integer(required=True)
    minimum_coverage = fields.Float(required=True)
    synthetic = fields.Boolean(required=True)


class BenchmarkOut(BenchmarkItem):
    """One benchmark."""


class BenchmarksOut(Schema):
    """All benchmarks, oldest first."""

    benchmarks = fields.List(fields.Nested(BenchmarkItem), required=True)


class MetricOut(Schema):
    """One number; `value` is null exactly where there is a `reason`."""

    value = fields.Float(allow_none=True, required=True, metadata={"description": "0 to 1, unrounded."})
    n = fields.Integer(required=True, metadata={"description": "Its denominator."})
    low = fields.Float(allow_none=True, required=True)
    high = fields.Float(allow_none=True, required=True)
    se = fields.Float(allow_none=True, required=True)
    method = fields.String(required=True)
    signature = fields.String(required=True)
    reason = fields.String()
    judge = fields.String()
    details = fields.Dict(keys=fields.String(), required=True)


class ScoresOut(Schema):
    """All numbers of one evaluation and what they depend on: `scores.json` but for the notes and places in it."""

    benchmark = fields.String(required=True)
    digest = fields.String(required=True)
    judge = fields.String(required=True)
    signature = fields.String(required=True)
    synthetic_ratings = fields.Boolean(required=True)
    metrics = fields.Dict(keys=fields.String(), values=fields.Nested(MetricOut), required=True)
    report = fields.Dict(keys=fields.String(), values=fields.Integer(), required=True)


class BoardQuery(Schema):
    """Which benchmark's board, and by which of its columns it is ranked."""

    benchmark = fields.String(required=True, validate=Length(max=64))
    rank_by = fields.String(load_default=None, validate=Length(max=40))


class BoardDownloadQuery(BoardQuery):
    """Which board, and as which type of file."""

    kind = fields.String(load_default="csv", validate=OneOf(exports.KINDS))


class BoardOut(Schema):
    """A board: what its columns mean, and one row per system. A row's `metrics` go by the columns' keys."""

    benchmark = fields.Dict(keys=fields.String(), required=True)
    synthetic_ratings = fields.Boolean(required=True)
    rank_by = fields.String(allow_none=True, required=True)
    columns = fields.List(fields.Dict(keys=fields.String()), required=True)
    rows = fields.List(fields.Dict(keys=fields.String()), required=True)
    architectures = fields.List(fields.Dict(keys=fields.String()), required=True)
