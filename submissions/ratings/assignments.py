"""Raters at work on a sheet: the next triple for each, their answers, and the batch that closes when all is rated."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from core.benchmark import Benchmarks
from core.database import Database
from core.errors import Conflict, InvalidInput, NotFound
from core.passage_text import rating_text
from core.queue import Queue
from core.tables import RatingBatch, RatingRow, RatingSheet, SheetRow
from core.tables.base import utc_now
from core.text import near_key
from submissions.labels import raters_left_out, raters_per_item
from submissions.ratings.pseudonyms import pseudonyms
from submissions.ratings.touched import keys_in, re_evaluating


@dataclass(frozen=True, slots=True)
class Task:
    """What a rater sees of one triple: no system, and nobody else's answers. `given` is their own earlier answer."""

    batch_id: int
    row: int
    total: int
    question: str
    answer: str
    passage: str
    interpretable: bool | None = None
    supported: bool | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """`mine` of the sheet's `total` triples are rated by this rater; `complete` triples have all their raters."""

    mine: int
    total: int
    complete: int
    closed: bool


@dataclass
class Assignments:
    """The functions behind the rater page; raters are named by whatever identifies them, and stored by pseudonym."""

    database: Database
    benchmarks: Benchmarks
    queue: Queue

    def open(self, sheet_id: int, author: str, note: str = "") -> RatingBatch:
        """Give a sheet to raters. Raises `NotFound`, and `Conflict` if it is with them already."""
        with self.database.transaction() as session:
            sheet = session.get(RatingSheet, sheet_id, with_for_update=True)
            if sheet is None:
                raise NotFound(f"There is no rating sheet {sheet_id}.")
            held = session.scalar(_open().where(RatingBatch.sheet_id == sheet_id).with_only_columns(RatingBatch.id))
            if held is not None:
                raise Conflict(f"Sheet {sheet_id} is with the raters already, as batch {held}.")
            batch = RatingBatch(
                benchmark_id=sheet.benchmark_id, sheet_id=sheet_id, file_digest=f"sheet-{sheet_id}",
                file_name="", author=author[:80], note=note,
            )  # fmt: skip
            session.add(batch)
        return batch

    def open_batches(self) -> list[RatingBatch]:
        """The batches that raters can work on, oldest first."""
        with self.database.reading() as session:
            return list(session.scalars(_open().order_by(RatingBatch.id)))

    def next(self, batch_id: int, rater: str) -> Task | None:
        """The first triple that this rater has not rated and that needs a rater; None if there is none left."""
        name = self._pseudonym(rater)
        with self.database.reading() as session:
            batch = _batch(session, batch_id)
            if batch.applied_at is not None:
                return None
            mine = select(RatingRow.triple).where(RatingRow.batch_id == batch_id, RatingRow.rater == name)
            query = (
                select(SheetRow)
                .where(
                    SheetRow.sheet_id == batch.sheet_id,
                    SheetRow.triple.not_in(mine),
                    SheetRow.triple.not_in(_complete(batch, raters_per_item(session, batch.benchmark_id))),
                )
                .order_by(SheetRow.row)
                .limit(1)
            )
            row = session.scalars(query).first()
            return None if row is None else self._task(session, batch, row, None)

    def task(self, batch_id: int, row: int, rater: str) -> Task:
        """One triple of the sheet with this rater's own answer, to look at again. Raises `NotFound`."""
        with self.database.reading() as session:
            batch = _batch(session, batch_id)
            found = _sheet_row(session, batch, row)
            return self._task(session, batch, found, _own(session, batch, found, self._pseudonym(rater)))

    def previous(self, batch_id: int, rater: str, before: int | None = None) -> Task | None:
        """The last triple that this rater rated, or the last before a row; None if there is none."""
        name = self._pseudonym(rater)
        with self.database.reading() as session:
            batch = _batch(session, batch_id)
            query = (
                select(SheetRow)
                .join(RatingRow, RatingRow.triple == SheetRow.triple)
                .where(SheetRow.sheet_id == batch.sheet_id, RatingRow.batch_id == batch_id, RatingRow.rater == name)
                .order_by(SheetRow.row.desc())
            )
            if before is not None:
                query = query.where(SheetRow.row < before)
            row = session.scalars(query.limit(1)).first()
            return None if row is None else self._task(session, batch, row, _own(session, batch, row, name))

    def record(
        self, batch_id: int, row: int, rater: str, interpretable: bool, supported: bool | None, note: str = ""
    ) -> bool:
        """Store an answer, or replace this rater's own while the batch is open; True if that closed the batch.

        Raises `InvalidInput` unless `supported` is answered exactly where `interpretable` is yes, `Conflict` for a
        batch that is closed or a triple that has all its raters.
        """
        if interpretable is (supported is None):
            raise InvalidInput("The second question is asked if, and only if, the first is answered with yes.")
        name = self._pseudonym(rater)
        with self.database.transaction() as session:
            batch = _batch(session, batch_id, lock=True)
            if batch.applied_at is not None or batch.revoked_at is not None:
                raise Conflict(f"Batch {batch_id} is closed.", "Nothing was stored. Thank you for your work.")
            place = _sheet_row(session, batch, row)
            needed = raters_per_item(session, batch.benchmark_id)
            own = _own(session, batch, place, name)
            if own is None:
                if place.triple in set(session.scalars(_complete(batch, needed))):
                    raise Conflict("Others have completed this one in the meantime.", "Go on with the next.")
                own = _add(session, batch, place, name)
            own.interpretable, own.supported, own.positive = interpretable, supported, bool(supported)
            own.note, own.rated_at = note, utc_now().isoformat(timespec="seconds")
            session.flush()
            done = len(session.scalars(_complete(batch, needed)).all())
            if done < _size(session, batch):
                return False
            self._close(session, batch)
            return True

    def close(self, batch_id: int) -> RatingBatch:
        """Let an open batch count as it is, before every triple has all its raters. Raises `Conflict`."""
        with self.database.transaction() as session:
            batch = _batch(session, batch_id, lock=True)
            if batch.applied_at is not None or batch.revoked_at is not None:
                raise Conflict(f"Batch {batch_id} is closed already.")
            self._close(session, batch)
        return batch

    def progress(self, batch_id: int, rater: str) -> Progress:
        """How far a rater and the batch are."""
        name = self._pseudonym(rater)
        with self.database.reading() as session:
            batch = _batch(session, batch_id)
            mine = select(func.count()).where(RatingRow.batch_id == batch_id, RatingRow.rater == name)
            complete = session.scalars(_complete(batch, raters_per_item(session, batch.benchmark_id))).all()
            return Progress(
                session.scalar(mine) or 0, _size(session, batch), len(complete),
                batch.applied_at is not None or batch.revoked_at is not None,
            )  # fmt: skip

    def _close(self, session: Session, batch: RatingBatch) -> None:
        with re_evaluating(session, self.queue, batch.benchmark_id, lambda: keys_in(session, batch.id)):
            batch.applied_at = utc_now()

    def _task(self, session: Session, batch: RatingBatch, row: SheetRow, own: RatingRow | None) -> Task:
        benchmark = self.benchmarks.get(batch.benchmark_id)
        passage = self.benchmarks.corpus(benchmark).passages([row.passage_id])[row.passage_id]
        shown = (benchmark.questions[row.position].text, row.answer, rating_text(passage))
        if own is None:
            return Task(batch.id, row.row, _size(session, batch), *shown)
        return Task(batch.id, row.row, _size(session, batch), *shown, own.interpretable, own.supported, own.note)

    def _pseudonym(self, rater: str) -> str:
        return pseudonyms(self.database).of(rater)


def _open() -> Select[RatingBatch]:
    return select(RatingBatch).where(
        RatingBatch.sheet_id.is_not(None), RatingBatch.applied_at.is_(None), RatingBatch.revoked_at.is_(None)
    )


def _complete(batch: RatingBatch, needed: int) -> Select[bytes]:
    """The triples of the batch that have all their raters; raters who are left out do not count."""
    return (
        select(RatingRow.triple)
        .where(RatingRow.batch_id == batch.id, RatingRow.rater.not_in(raters_left_out(batch.benchmark_id)))
        .group_by(RatingRow.triple)
        .having(func.count() >= needed)
    )


def _batch(session: Session, batch_id: int, lock: bool = False) -> RatingBatch:
    batch = session.get(RatingBatch, batch_id, with_for_update=lock or None)
    if batch is None or batch.sheet_id is None:
        raise NotFound(f"There is no batch {batch_id} for raters.")
    return batch


def _size(session: Session, batch: RatingBatch) -> int:
    return session.scalar(select(func.count()).where(SheetRow.sheet_id == batch.sheet_id)) or 0


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
