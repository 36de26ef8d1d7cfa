"""The labels of revisions as a table, and the ratings behind them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from sqlalchemy.orm import Session

from core.benchmark import Benchmark
from core.tables import EditRatingRow
from core.tabular import write_table
from submissions.editing.labels import INTENT, Verdict, elsewhere, newest_edit_votes, verdicts
from submissions.ratings.export import BATCH_COLUMNS, every_rating, told_of_batch

LABEL_COLUMNS = {
    "id": "text", "key": "text", "sentence": "integer", "human_rating": "text", "positive": "integer",
    "raters": "integer", "complete": "boolean", "synthetic": "boolean",
}  # fmt: skip
RATING_COLUMNS = {
    "id": "text", "key": "text", "sentence": "integer", "rater": "text", "supported": "text", "intent": "text",
    "note": "text", **BATCH_COLUMNS, "splitter": "text",
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
    for rating, batch, counts in every_rating(session, benchmark.id, EditRatingRow):
        said, of_intent = "Y" if rating.positive else "N", rating.sentence == INTENT
        here = counts and not elsewhere(rating.sentence, batch.splitter)
        yield (
            benchmark.questions[rating.position].id, rating.revision.hex(), rating.sentence, rating.rater,
            None if of_intent else said, said if of_intent else None, rating.note,
            *told_of_batch(batch, rating.row, here), batch.splitter,
        )  # fmt: skip
