"""Labels from ratings: the strict majority of the newest word of each rater on each triple (AQA §3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.records import Label, Prediction
from core.tables import RatingBatch, RatingRow
from core.text import hash_key, triple_key

_BATCH = 500


class Vote(NamedTuple):
    """The newest rating of one rater (or the pre-aggregated one, whose rater is empty) on one triple."""

    triple: bytes
    rater: str
    positive: bool
    position: int
    answer: str
    passage_id: str


def labels_for(session: Session, benchmark_id: str, predictions: Sequence[Prediction]) -> dict[int, Label]:
    """The labels that apply to the given predictions, by question position."""
    keys = {triple_key(p.position, p.answer, p.passage_id): p.position for p in predictions if p.passage_id is not None}
    votes: list[Vote] = []
    wanted = list(keys)
    for start in range(0, len(wanted), _BATCH):
        votes += newest_votes(session, benchmark_id, wanted[start : start + _BATCH])
    return {keys[triple]: label for triple, label in majority(votes).items()}


def newest_votes(session: Session, benchmark_id: str, triples: Sequence[bytes] | None = None) -> list[Vote]:
    """The votes that count: later batches replace a rater's earlier word, revoked batches do not count."""
    query = (
        select(RatingRow)
        .join(RatingBatch, RatingBatch.id == RatingRow.batch_id)
        .where(RatingRow.benchmark_id == benchmark_id, RatingBatch.revoked_at.is_(None))
        .order_by(RatingRow.batch_id, RatingRow.row)
    )
    if triples is not None:
        query = query.where(RatingRow.triple.in_(triples))
    newest: dict[tuple[bytes, str], Vote] = {}
    for r in session.scalars(query):
        newest[r.triple, r.rater] = Vote(r.triple, r.rater, r.positive, r.position, r.answer, r.passage_id)
    return list(newest.values())


def majority(votes: Sequence[Vote]) -> dict[bytes, Label]:
    """One label per triple. Raters' votes go before a pre-aggregated label; a tie is not attributable."""
    by_triple: dict[bytes, list[Vote]] = {}
    for vote in votes:
        by_triple.setdefault(vote.triple, []).append(vote)
    return {triple: _label(given) for triple, given in by_triple.items()}


def labels_hash(labels: dict[int, Label]) -> str:
    """A hash of the labels a score used: part of its signature."""
    parts = [f"{at}:{label.positive}/{label.raters}:{label.attributable}" for at, label in sorted(labels.items())]
    return hash_key(*parts, size=6).hex() if parts else "none"


def _label(votes: list[Vote]) -> Label:
    raters = [vote for vote in votes if vote.rater]
    counted = raters or votes
    positive = sum(vote.positive for vote in counted)
    first = counted[0]
    return Label(
        first.position,
        first.answer,
        first.passage_id,
        positive,
        len(counted),
        2 * positive > len(counted),
        pre_aggregated=not raters,
    )
