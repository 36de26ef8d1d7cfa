"""What raters at work on a sheet ask of its rows, and what a page shows: one module for each kind of sheet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy.orm import Session

from core.editing import Snippet
from core.tables import RatingBatch


@dataclass(frozen=True, slots=True)
class Task:
    """What a rater sees of one triple: no system, and nobody else's answers; and their own earlier answer."""

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
class RevisionTask:
    """What a rater sees of one question asked of a text beside its report; else as `Task`.

    It is about the sentence between `start` and `end`, or with `of_intent` about the whole text beside the original.
    """

    batch_id: int
    row: int
    total: int
    of_intent: bool
    context: tuple[str, ...]
    original: str
    text: str
    start: int
    end: int
    report: tuple[Snippet, ...]
    said: bool | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A rater's word on a triple."""

    interpretable: bool
    supported: bool | None
    note: str


@dataclass(frozen=True, slots=True)
class Word:
    """A rater's word on a sentence or an intent."""

    yes: bool
    note: str


class Work(Protocol):
    """One kind of sheet at work; its questions have numbers, and raters are named by pseudonym."""

    @property
    def takes(self) -> type:
        """What a rater says: `Answer` or `Word`."""

    def opened(self, session: Session, sheet_id: int) -> str | None:
        """What numbers the sentences on a sheet, None where it has none. Raises `Conflict` if it cannot be rated."""

    def size(self, session: Session, batch: RatingBatch) -> int:
        """How many questions there are."""

    def complete(self, session: Session, batch: RatingBatch, needed: int) -> int:
        """How many of them have all their raters; raters who are left out do not count."""

    def mine(self, session: Session, batch: RatingBatch, rater: str) -> int:
        """How many this rater has answered."""

    def next(self, session: Session, batch: RatingBatch, needed: int, rater: str) -> int | None:
        """The first that this rater has not answered and that needs a rater."""

    def previous(self, session: Session, batch: RatingBatch, rater: str, before: int | None) -> int | None:
        """The last that this rater answered, or the last before another."""

    def task(self, session: Session, batch: RatingBatch, number: int, rater: str) -> Task | RevisionTask:
        """One question with this rater's own answer. Raises `NotFound`."""

    def store(self, session: Session, batch: RatingBatch, number: int, needed: int, rater: str, said: Any) -> None:
        """Add or replace this rater's answer. Raises `NotFound`, and `Conflict` where others have completed it."""
