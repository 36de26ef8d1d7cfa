"""The labels of revisions as a table, and the ratings behind them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.benchmark import Benchmark
from core.tables import EditRatingRow, RatingBatch
from core.tabular import write_table
from submissions.editing.labels import INTENT, Verdict, elsewhere, newest_edit_votes, verdicts
from submissions.labels import raters_left_out

LABEL_COLUMNS = {
    "id": "text", "key": "text", "sentence": "integer", "human_rating": "text", "positive": "integer",
    "raters": "integer", "complete": "boolean", "synthetic": "boolean",
}  # fmt: skip
RATING_COLUMNS = {
    "id": "text", "key": "text", "sentence": "integer", "rater": "text", "supported": "text", "intent": "text",
    "note": "text", "batch": "integer", "row": "integer", "counts": "boolean", "digest": "text", "author": "text",
    "applied_at": "text", "revoked_at": "text", "synthetic": "boolean", "splitter": "text",
}  # fmt: skip


def export_edit_labels(session: Session, benchmark: Benchmark, kind: str, stream: BinaryIO) -> None:
    """One row per sentence (or intent, `sentence` 0) with a label that counts, in the benchmark's order."""
    votes = newest_edit_votes(session, benchmark.id)
    position = {vote.revision: vote.position for vote in votes}
    labels = verdicts(votes, benchmark.raters_per_item)
    told: list[tuple[int, bytes, int, Verdict]] = []
    for key, label in labels.items():
        told += [(position[key], key, number, verdict) for number, verdict in label.sentences.items()]
        told += [(position[key], key, INTENT, label.intent)] if label.intent else []
    rows = (
        (
            benchmark.questions[at].id, key.hex(), number, "Y" if verdict.yes else "N", verdict.positive,
            verdict.raters, verdict.complete, verdict.synthetic,
        )
        for at, key, number, verdict in sorted(told, key=lambda each: each[:3])
    )  # fmt: skip
    write_table(kind, LABEL_COLUMNS, rows, stream)


def export_edit_ratings(session: Session, benchmark: Benchmark, kind: str, stream: BinaryIO) -> None:
    """One row per rating of every batch, with its batch, who applied it and when, and whether it counts."""
    write_table(kind, RATING_COLUMNS, _ratings(session, benchmark), stream)


def _ratings(session: Session, benchmark: Benchmark) -> Iterator[tuple[Any, ...]]:
    left_out = set(session.scalars(raters_left_out(benchmark.id)))
    query = (
        select(EditRatingRow, RatingBatch)
        .join(RatingBatch, RatingBatch.id == EditRatingRow.batch_id)
        .where(EditRatingRow.benchmark_id == benchmark.id)
        .order_by(EditRatingRow.batch_id, EditRatingRow.row)
        .execution_options(yield_per=1000)
    )
    for rating, batch in session.execute(query):
        counts = batch.applied_at and not batch.revoked_at and rating.rater not in left_out
        counts = counts and not elsewhere(rating.sentence, batch.splitter)
        said = "Y" if rating.positive else "N"
        yield (
            benchmark.questions[rating.position].id, rating.revision.hex(), rating.sentence, rating.rater,
            None if rating.sentence == INTENT else said, said if rating.sentence == INTENT else None, rating.note,
            batch.id, rating.row, bool(counts), batch.file_digest, batch.author,
            batch.applied_at and batch.applied_at.isoformat(), batch.revoked_at and batch.revoked_at.isoformat(),
            batch.synthetic, batch.splitter,
        )  # fmt: skip
