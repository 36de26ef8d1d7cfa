"""Raters at work on a sheet of revisions: one question about a sentence, or about a text's intent, at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from core.benchmark import Benchmarks
from core.editing import Snippet
from core.errors import Conflict, NotFound
from core.sentences import splitter
from core.tables import EditRatingRow, RatingBatch, SheetRevision
from submissions.editing.labels import INTENT
from submissions.labels import raters_left_out
from submissions.ratings.editing_sheets import kept
from submissions.ratings.work import RevisionTask, Word

Question = tuple[bytes, int]
"""The key of a revision, and the sentence or `INTENT`."""


@dataclass(frozen=True)
class RevisionWork:
    """As `Work`; the questions of a sheet are numbered on from text to text."""

    benchmarks: Benchmarks
    takes: ClassVar[type] = Word

    def opened(self, session: Session, sheet_id: int) -> str | None:
        """The splitter, which a batch keeps with the numbers of its sentences."""
        asked = any(number != INTENT for each in kept(session, sheet_id) for number in each.missing)
        return splitter() if asked else None

    def size(self, session: Session, batch: RatingBatch) -> int:
        """How many questions there are."""
        query = select(SheetRevision.row, SheetRevision.asked).where(SheetRevision.sheet_id == batch.sheet_id)
        last = session.execute(query.order_by(SheetRevision.row.desc()).limit(1)).first()
        return last.row + len(last.asked) - 1 if last else 0

    def complete(self, session: Session, batch: RatingBatch, needed: int) -> int:
        """How many have all their raters."""
        return len(_complete(session, batch, needed))

    def mine(self, session: Session, batch: RatingBatch, rater: str) -> int:
        """How many this rater has answered."""
        return len(_mine(session, batch, rater))

    def next(self, session: Session, batch: RatingBatch, needed: int, rater: str) -> int | None:
        """The first that this rater has not answered and that needs a rater."""
        done = _mine(session, batch, rater) | _complete(session, batch, needed)
        return next((number for number, asked in _questions(session, batch).items() if asked not in done), None)

    def previous(self, session: Session, batch: RatingBatch, rater: str, before: int | None) -> int | None:
        """The last that this rater answered, or the last before another."""
        mine, asked = _mine(session, batch, rater), _questions(session, batch)
        earlier = (number for number in asked if before is None or number < before)
        return max((number for number in earlier if asked[number] in mine), default=None)

    def task(self, session: Session, batch: RatingBatch, number: int, rater: str) -> RevisionTask:
        """One question with this rater's own answer."""
        row, sentence = _place(session, batch, number)
        question = self.benchmarks.get(batch.benchmark_id).questions[row.position]
        own = _own(session, batch, row, sentence, rater)
        asked = row.asked[number - row.row]
        return RevisionTask(
            batch.id, number, self.size(session, batch), sentence == INTENT, tuple(question.context), question.text,
            row.text, asked["start"], asked["end"], tuple(Snippet(**snippet) for snippet in row.report),
            own.positive if own else None, own.note if own else "",
        )  # fmt: skip

    def store(self, session: Session, batch: RatingBatch, number: int, needed: int, rater: str, said: Word) -> None:
        """Add or replace this rater's answer."""
        row, sentence = _place(session, batch, number)
        own = _own(session, batch, row, sentence, rater)
        if own is None:
            if (row.revision, sentence) in _complete(session, batch, needed):
                raise Conflict("Others have completed this one in the meantime.", "Go on with the next.")
            last = session.scalar(select(func.max(EditRatingRow.row)).where(EditRatingRow.batch_id == batch.id)) or 0
            own = EditRatingRow(
                batch_id=batch.id, row=last + 1, benchmark_id=batch.benchmark_id, revision=row.revision,
                position=row.position, sentence=sentence, rater=rater,
            )  # fmt: skip
            session.add(own)
        own.positive, own.note = said.yes, said.note


def _questions(session: Session, batch: RatingBatch) -> dict[int, Question]:
    """What each number of the sheet asks, in order."""
    query = select(SheetRevision.row, SheetRevision.revision, SheetRevision.asked)
    rows = session.execute(query.where(SheetRevision.sheet_id == batch.sheet_id).order_by(SheetRevision.row))
    return {
        number: (revision, asked["sentence"])
        for first, revision, listed in rows
        for number, asked in enumerate(listed, start=first)
    }


def _mine(session: Session, batch: RatingBatch, rater: str) -> set[Question]:
    query = select(EditRatingRow.revision, EditRatingRow.sentence)
    rows = session.execute(query.where(EditRatingRow.batch_id == batch.id, EditRatingRow.rater == rater))
    return {(revision, sentence) for revision, sentence in rows}


def _complete(session: Session, batch: RatingBatch, needed: int) -> set[Question]:
    """The questions that have all their raters; raters who are left out do not count."""
    query = (
        select(EditRatingRow.revision, EditRatingRow.sentence)
        .where(EditRatingRow.batch_id == batch.id, EditRatingRow.rater.not_in(raters_left_out(batch.benchmark_id)))
        .group_by(EditRatingRow.revision, EditRatingRow.sentence)
        .having(func.count() >= needed)
    )
    return {(revision, sentence) for revision, sentence in session.execute(query)}


def _place(session: Session, batch: RatingBatch, number: int) -> tuple[SheetRevision, int]:
    """The text that a number is about, and the sentence of it."""
    query = select(SheetRevision).where(SheetRevision.sheet_id == batch.sheet_id, SheetRevision.row <= number)
    row = session.scalars(query.order_by(SheetRevision.row.desc()).limit(1)).first()
    if row is None or number - row.row >= len(row.asked):
        raise NotFound(f"The sheet has no row {number}.")
    return row, row.asked[number - row.row]["sentence"]


def _own(session: Session, batch: RatingBatch, row: SheetRevision, sentence: int, rater: str) -> EditRatingRow | None:
    query = select(EditRatingRow).where(
        EditRatingRow.batch_id == batch.id, EditRatingRow.revision == row.revision,
        EditRatingRow.sentence == sentence, EditRatingRow.rater == rater,
    )  # fmt: skip
    return session.scalars(query).first()
