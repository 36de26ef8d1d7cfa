"""The label cache, as a table that can be read in again, and the ratings behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.benchmark import Benchmark
from core.tables import EditRatingRow, RatingBatch, RatingRow
from core.tabular import write_table
from submissions.labels import labels_of, raters_left_out

LABEL_COLUMNS = {
    "question": "text", "answer": "text", "attribution": "text", "human_rating": "text", "positive": "integer",
    "raters": "integer", "complete": "boolean", "pre_aggregated": "boolean", "synthetic": "boolean",
}  # fmt: skip
BATCH_COLUMNS = {
    "batch": "integer", "row": "integer", "counts": "boolean", "digest": "text", "author": "text", "applied_at": "text",
    "revoked_at": "text", "synthetic": "boolean",
}  # fmt: skip
"""What `told_of_batch` gives."""
RATING_COLUMNS = {
    "question": "text", "answer": "text", "attribution": "text", "rater": "text", "interpretable": "text",
    "supported": "text", "positive": "text", "system": "text", "note": "text", "rated_at": "text", **BATCH_COLUMNS,
    "qualification": "boolean",
}  # fmt: skip

AnyRating = TypeVar("AnyRating", RatingRow, EditRatingRow)


def export_labels(session: Session, benchmark: Benchmark, kind: str, stream: BinaryIO) -> None:
    """One row per label that counts, in the benchmark's order; read in again, it is a pre-aggregated file."""
    labels = sorted(labels_of(session, benchmark.id).values(), key=lambda x: (x.position, x.answer, x.passage_id))
    rows = (
        (
            benchmark.questions[label.position].text, label.answer, label.passage_id, _letter(label.attributable),
            label.positive, label.raters, label.complete, label.pre_aggregated, label.synthetic,
        )
        for label in labels
    )  # fmt: skip
    write_table(kind, LABEL_COLUMNS, rows, stream)


def export_ratings(session: Session, benchmark: Benchmark, kind: str, stream: BinaryIO) -> None:
    """One row per rating of every batch, with its batch, who applied it and when, and whether it counts.

    `counts` is false for batches that are open, revoked or for qualification, and for raters left out; a rating that
    a later batch replaced still says true: the newest one that counts decides.
    """
    write_table(kind, RATING_COLUMNS, _ratings(session, benchmark), stream)


def every_rating(
    session: Session, benchmark_id: str, table: type[AnyRating]
) -> Iterator[tuple[AnyRating, RatingBatch, bool]]:
    """All ratings of a benchmark in a table of them, each with its batch and whether it counts, in their order."""
    left_out = set(session.scalars(raters_left_out(benchmark_id)))
    query = (
        select(table, RatingBatch)
        .join(RatingBatch, RatingBatch.id == table.batch_id)
        .where(table.benchmark_id == benchmark_id)
        .order_by(table.batch_id, table.row)
        .execution_options(yield_per=1000)
    )
    for rating, batch in session.execute(query):
        counts = batch.applied_at and not batch.revoked_at and not batch.qualification and rating.rater not in left_out
        yield rating, batch, bool(counts)


def told_of_batch(batch: RatingBatch, row: int, counts: bool) -> tuple[Any, ...]:
    """Where a rating is from, as of `BATCH_COLUMNS`."""
    return (
        batch.id, row, counts, batch.file_digest, batch.author,
        batch.applied_at and batch.applied_at.isoformat(), batch.revoked_at and batch.revoked_at.isoformat(),
        batch.synthetic,
    )  # fmt: skip


def _ratings(session: Session, benchmark: Benchmark) -> Iterator[tuple[Any, ...]]:
    for rating, batch, counts in every_rating(session, benchmark.id, RatingRow):
        yield (
            benchmark.questions[rating.position].text, rating.answer, rating.passage_id, rating.rater or None,
            _letter(rating.interpretable), _letter(rating.supported), _letter(rating.positive), rating.system,
            rating.note, rating.rated_at, *told_of_batch(batch, rating.row, counts), batch.qualification,
        )  # fmt: skip


def _letter(value: bool | None) -> str | None:
    return None if value is None else "Y" if value else "N"
