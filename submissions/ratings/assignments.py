"""Raters at work on a sheet: the next question for each, their answers, and the batch that closes when all is rated."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from core.benchmark import Benchmarks
from core.database import Database
from core.errors import Conflict, InvalidInput, NotFound
from core.queue import Queue
from core.tables import RatingBatch, RatingSheet
from core.tables.base import utc_now
from core.tracks import EDITING
from submissions.labels import raters_per_item
from submissions.ratings import kinds
from submissions.ratings.pseudonyms import pseudonyms
from submissions.ratings.revision_work import RevisionWork
from submissions.ratings.touched import re_evaluating
from submissions.ratings.triple_work import TripleWork
from submissions.ratings.work import Answer, RevisionTask, Task, Word, Work


@dataclass(frozen=True, slots=True)
class Progress:
    """`mine` of the sheet's `total` questions are answered by this rater; `complete` have all their raters."""

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
        """Give a sheet to raters. Raises `NotFound`, and `Conflict` if it is with them already or out of date."""
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
                splitter=self._work(sheet.benchmark_id).opened(session, sheet_id),
            )  # fmt: skip
            session.add(batch)
        return batch

    def open_batches(self) -> list[RatingBatch]:
        """The batches that raters can work on, oldest first."""
        with self.database.reading() as session:
            return list(session.scalars(_open().order_by(RatingBatch.id)))

    def next(self, batch_id: int, rater: str) -> Task | RevisionTask | None:
        """The first question that this rater has not answered and that needs a rater; None if there is none left."""
        name = self._pseudonym(rater)
        with self.database.reading() as session:
            batch = _batch(session, batch_id)
            if _closed(batch):
                return None
            work = self._work(batch.benchmark_id)
            number = work.next(session, batch, raters_per_item(session, batch.benchmark_id), name)
            return None if number is None else work.task(session, batch, number, name)

    def task(self, batch_id: int, row: int, rater: str) -> Task | RevisionTask:
        """One question of the sheet with this rater's own answer, to look at again. Raises `NotFound`."""
        name = self._pseudonym(rater)
        with self.database.reading() as session:
            batch = _batch(session, batch_id)
            return self._work(batch.benchmark_id).task(session, batch, row, name)

    def previous(self, batch_id: int, rater: str, before: int | None = None) -> Task | RevisionTask | None:
        """The last question that this rater answered, or the last before a row; None if there is none."""
        name = self._pseudonym(rater)
        with self.database.reading() as session:
            batch = _batch(session, batch_id)
            work = self._work(batch.benchmark_id)
            number = work.previous(session, batch, name, before)
            return None if number is None else work.task(session, batch, number, name)

    def record(
        self, batch_id: int, row: int, rater: str, interpretable: bool, supported: bool | None, note: str = ""
    ) -> bool:
        """Store an answer, or replace this rater's own while the batch is open; True if that closed the batch.

        Raises `InvalidInput` unless `supported` is answered exactly where `interpretable` is yes, `Conflict` for a
        batch that is closed or a triple that has all its raters.
        """
        if interpretable is (supported is None):
            raise InvalidInput("The second question is asked if, and only if, the first is answered with yes.")
        return self._store(batch_id, row, rater, Answer(interpretable, supported, note))

    def record_word(self, batch_id: int, row: int, rater: str, yes: bool, note: str = "") -> bool:
        """The same of a sentence of a revision, or of its intent."""
        return self._store(batch_id, row, rater, Word(yes, note))

    def close(self, batch_id: int) -> RatingBatch:
        """Let an open batch count as it is, before every question has all its raters. Raises `Conflict`."""
        with self.database.transaction() as session:
            batch = _batch(session, batch_id, lock=True)
            if _closed(batch):
                raise Conflict(f"Batch {batch_id} is closed already.")
            self._close(session, batch)
        return batch

    def progress(self, batch_id: int, rater: str) -> Progress:
        """How far a rater and the batch are."""
        name = self._pseudonym(rater)
        with self.database.reading() as session:
            batch = _batch(session, batch_id)
            work, needed = self._work(batch.benchmark_id), raters_per_item(session, batch.benchmark_id)
            return Progress(
                work.mine(session, batch, name), work.size(session, batch), work.complete(session, batch, needed),
                _closed(batch),
            )  # fmt: skip

    def _store(self, batch_id: int, row: int, rater: str, said: Answer | Word) -> bool:
        if "\0" in said.note:
            raise InvalidInput("The remark holds a NUL character.", "Remove it.")
        name = self._pseudonym(rater)
        with self.database.transaction() as session:
            batch = _batch(session, batch_id, lock=True)
            if _closed(batch):
                raise Conflict(f"Batch {batch_id} is closed.", "Nothing was stored. Thank you for your work.")
            work, needed = self._work(batch.benchmark_id), raters_per_item(session, batch.benchmark_id)
            if not isinstance(said, work.takes):
                raise InvalidInput(f"Batch {batch_id} asks for something else.")
            work.store(session, batch, row, needed, name, said)
            session.flush()
            if work.complete(session, batch, needed) < work.size(session, batch):
                return False
            self._close(session, batch)
            return True

    def _close(self, session: Session, batch: RatingBatch) -> None:
        kind = kinds.of(self.benchmarks.get(batch.benchmark_id))
        with re_evaluating(
            session, self.queue, batch.benchmark_id, lambda: kind.keys_in(session, batch.id), kind.moves
        ):
            batch.applied_at = utc_now()

    def _work(self, benchmark_id: str) -> Work:
        editing = self.benchmarks.get(benchmark_id).track == EDITING
        return RevisionWork(self.benchmarks) if editing else TripleWork(self.benchmarks)

    def _pseudonym(self, rater: str) -> str:
        return pseudonyms(self.database).of(rater)


def _open() -> Select[RatingBatch]:
    return select(RatingBatch).where(
        RatingBatch.sheet_id.is_not(None), RatingBatch.applied_at.is_(None), RatingBatch.revoked_at.is_(None)
    )


def _closed(batch: RatingBatch) -> bool:
    """True once no answer is taken any more: one that was revoked while raters worked on it was never applied."""
    return batch.applied_at is not None or batch.revoked_at is not None


def _batch(session: Session, batch_id: int, lock: bool = False) -> RatingBatch:
    batch = session.get(RatingBatch, batch_id, with_for_update=lock or None)
    if batch is None or batch.sheet_id is None:
        raise NotFound(f"There is no batch {batch_id} for raters.")
    return batch
