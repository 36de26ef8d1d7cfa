"""Raters at work on a sheet of triples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from core.benchmark import Benchmarks
from core.errors import Conflict, NotFound
from core.passage_text import rating_text
from core.tables import RatingBatch, RatingRow, SheetRow
from core.tables.base import utc_now
from core.text import near_key
from submissions.labels import raters_left_out
from submissions.ratings.work import Answer, Task


@dataclass(frozen=True)
class TripleWork:
    """As `Work`; the number of a question is its row on the sheet."""

    benchmarks: Benchmarks
    takes: ClassVar[type] = Answer

    def opened(self, session: Session, sheet_id: int) -> str | None:
        """None: triples have no sentences."""
        return None

    def size(self, session: Session, batch: RatingBatch) -> int:
        """How many triples there are."""
        return session.scalar(select(func.count()).where(SheetRow.sheet_id == batch.sheet_id)) or 0

    def complete(self, session: Session, batch: RatingBatch, needed: int) -> int:
        """How many have all their raters."""
        return len(session.scalars(_complete(batch, needed)).all())

    def mine(self, session: Session, batch: RatingBatch, rater: str) -> int:
        """How many this rater has rated."""
        query = select(func.count()).where(RatingRow.batch_id == batch.id, RatingRow.rater == rater)
        return session.scalar(query) or 0

    def next(self, session: Session, batch: RatingBatch, needed: int, rater: str) -> int | None:
        """The first that this rater has not rated and that needs a rater."""
        mine = select(RatingRow.triple).where(RatingRow.batch_id == batch.id, RatingRow.rater == rater)
        query = select(func.min(SheetRow.row)).where(
            SheetRow.sheet_id == batch.sheet_id,
            SheetRow.triple.not_in(mine),
            SheetRow.triple.not_in(_complete(batch, needed)),
        )
        return session.scalar(query)

    def previous(self, session: Session, batch: RatingBatch, rater: str, before: int | None) -> int | None:
        """The last that this rater rated, or the last before a row."""
        query = (
            select(func.max(SheetRow.row))
            .join(RatingRow, RatingRow.triple == SheetRow.triple)
            .where(SheetRow.sheet_id == batch.sheet_id, RatingRow.batch_id == batch.id, RatingRow.rater == rater)
        )
        return session.scalar(query if before is None else query.where(SheetRow.row < before))

    def task(self, session: Session, batch: RatingBatch, number: int, rater: str) -> Task:
        """One triple with this rater's own answer."""
        row = _sheet_row(session, batch, number)
        own = _own(session, batch, row, rater)
        benchmark = self.benchmarks.get(batch.benchmark_id)
        passage = self.benchmarks.corpus(benchmark).passages([row.passage_id])[row.passage_id]
        shown = (benchmark.questions[row.position].text, row.answer, rating_text(passage))
        answered = () if own is None else (own.interpretable, own.supported, own.note)
        return Task(batch.id, row.row, self.size(session, batch), *shown, *answered)

    def store(self, session: Session, batch: RatingBatch, number: int, needed: int, rater: str, said: Answer) -> None:
        """Add or replace this rater's answer."""
        place = _sheet_row(session, batch, number)
        own = _own(session, batch, place, rater)
        if own is None:
            if place.triple in set(session.scalars(_complete(batch, needed))):
                raise Conflict("Others have completed this one in the meantime.", "Go on with the next.")
            own = _add(session, batch, place, rater)
        own.interpretable, own.supported, own.positive = said.interpretable, said.supported, bool(said.supported)
        own.note, own.rated_at = said.note, utc_now().isoformat(timespec="seconds")


def _complete(batch: RatingBatch, needed: int) -> Select[bytes]:
    """The triples of the batch that have all their raters; raters who are left out do not count."""
    return (
        select(RatingRow.triple)
        .where(RatingRow.batch_id == batch.id, RatingRow.rater.not_in(raters_left_out(batch.benchmark_id)))
        .group_by(RatingRow.triple)
        .having(func.count() >= needed)
    )


def _sheet_row(session: Session, batch: RatingBatch, row: int) -> SheetRow:
    found = session.get(SheetRow, (batch.sheet_id, row))
    if found is None:
        raise NotFound(f"The sheet has no row {row}.")
    return found


def _own(session: Session, batch: RatingBatch, row: SheetRow, rater: str) -> RatingRow | None:
    query = select(RatingRow).where(
        RatingRow.batch_id == batch.id, RatingRow.triple == row.triple, RatingRow.rater == rater
    )
    return session.scalars(query).first()


def _add(session: Session, batch: RatingBatch, row: SheetRow, rater: str) -> RatingRow:
    last = session.scalar(select(func.max(RatingRow.row)).where(RatingRow.batch_id == batch.id)) or 0
    own = RatingRow(
        batch_id=batch.id, row=last + 1, benchmark_id=batch.benchmark_id, triple=row.triple,
        near=near_key(row.position, row.answer, row.passage_id), position=row.position, answer=row.answer,
        passage_id=row.passage_id, rater=rater,
    )  # fmt: skip
    session.add(own)
    return own
