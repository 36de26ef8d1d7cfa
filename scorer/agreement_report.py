"""How far the raters of a batch agree, and how right each was where the answer is known."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import NotFound
from core.tables import EditRatingRow, QuestionRow, RatingBatch, RatingRow
from scorer.statistics.agreement import Agreement, RaterShare, agreement, agreement_by, qualification


@dataclass(frozen=True)
class BatchAgreement:
    """Agreement over a batch's rater-level ratings: on the whole, per question type, and against known answers.

    `by_type` is empty where the benchmark's questions have no types; `accuracy` is empty unless the batch is one for
    qualification. A rating is positive iff both questions were answered yes.
    """

    batch: RatingBatch
    overall: Agreement
    by_type: dict[str, Agreement]
    accuracy: tuple[RaterShare, ...]


class _Rated(NamedTuple):
    item: Hashable
    rater: str
    positive: bool
    known: bool | None
    type: str | None


def batch_agreement(session: Session, batch_id: int) -> BatchAgreement:
    """The report on one batch, revoked or not. Raises `NotFound`."""
    batch = session.get(RatingBatch, batch_id)
    if batch is None:
        raise NotFound(f"There is no rating batch {batch_id}.", "`aqa ratings list` shows all.")
    rows = _rows(session, batch_id) or _rows_of_revisions(session, batch_id)
    items = [row.item for row in rows]
    raters, positive = [row.rater for row in rows], [row.positive for row in rows]
    typed = any(row.type for row in rows)
    known = {row.item: row.known for row in rows if row.known is not None}
    return BatchAgreement(
        batch,
        agreement(items, raters, positive),
        agreement_by([row.type or "other" for row in rows], items, raters, positive) if typed else {},
        qualification(items, raters, positive, known) if known else (),
    )


def _rows(session: Session, batch_id: int) -> list[_Rated]:
    """Ratings of triples by raters."""
    query = (
        select(RatingRow.triple, RatingRow.rater, RatingRow.positive, RatingRow.known, QuestionRow.type)
        .join(
            QuestionRow,
            (QuestionRow.benchmark_id == RatingRow.benchmark_id) & (QuestionRow.position == RatingRow.position),
        )
        .where(RatingRow.batch_id == batch_id, RatingRow.rater != "")
        .order_by(RatingRow.row)
    )
    return [_Rated(*row) for row in session.execute(query)]


def _rows_of_revisions(session: Session, batch_id: int) -> list[_Rated]:
    """Ratings of sentences and intents, each a thing to agree on."""
    rated = EditRatingRow
    query = (
        select(rated.revision, rated.sentence, rated.rater, rated.positive, QuestionRow.type)
        .join(QuestionRow, (QuestionRow.benchmark_id == rated.benchmark_id) & (QuestionRow.position == rated.position))
        .where(rated.batch_id == batch_id)
        .order_by(rated.row)
    )
    return [
        _Rated((revision, sentence), rater, positive, None, kind)
        for revision, sentence, rater, positive, kind in session.execute(query)
    ]
