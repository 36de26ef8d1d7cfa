"""The frozen values that travel between rooms; rows never leave `core.tables` as dictionaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    """One benchmark question with its references; `position` is its place in the benchmark, from 0.

    In the editing track `text` is the passage to revise and `context` the turns before it, oldest first.
    """

    position: int
    id: str
    text: str
    references: tuple[str, ...]
    rated: bool = True
    type: str | None = None
    context: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """One unit of a corpus: id, page title, headings (title first, joined by ", ") and text."""

    id: str
    title: str
    headings: str
    text: str


@dataclass(frozen=True, slots=True)
class Prediction:
    """One accepted answer; `passage_id` is the corpus id that `attribution` resolved to, if any."""

    position: int
    answer: str
    attribution: str
    passage_id: str | None


@dataclass(frozen=True, slots=True)
class Pair:
    """What a judge reads: always a premise and a hypothesis; for QA also the parts they were made of."""

    premise: str
    hypothesis: str
    question: str | None = None
    answer: str | None = None
    passage: Passage | None = None


@dataclass(frozen=True, slots=True)
class Judgment:
    """A judge's word on one pair: p in [0, 1], the label it would print, and remarks on the row."""

    p: float
    label: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """One place in an input file that a person should look at; `row` counts data rows from 1."""

    row: int | None
    kind: str
    message: str
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What reading a file found: counts per kind, up to 1,000 places, and whether it was refused."""

    counts: dict[str, int]
    places: tuple[Place, ...] = ()
    fatal: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        """True if nothing fatal was found."""
        return not self.fatal


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval with its standard error and the name of the method that gave it."""

    low: float | None
    high: float | None
    se: float | None
    method: str


@dataclass(frozen=True, slots=True)
class Score:
    """One published number. `value` is None exactly when `reason` says why."""

    metric: str
    value: float | None
    n: int
    interval: Interval
    signature: str
    reason: str | None = None
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Label:
    """What humans said of one (question, answer, passage): votes of raters, or one pre-aggregated label.

    `complete` is False while fewer raters than the benchmark asks for have voted; `synthetic` is True if a vote is
    from a batch that no person made.
    """

    position: int
    answer: str
    passage_id: str
    positive: int
    raters: int
    attributable: bool
    pre_aggregated: bool = False
    complete: bool = True
    synthetic: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """All that is known of one question in one submission; what metrics read.

    `near` is the label of a triple alike but for the answer's spelling, where there is no `label`. `sampled` is the
    probability with which a rating sheet drew the triple, if one did.
    """

    question: Question
    prediction: Prediction | None
    judgment: Judgment | None = None
    label: Label | None = None
    near: Label | None = None
    sampled: float | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """A metric's values at `positions` (its denominator), or a `reason` why the number is undefined.

    `parts` are a composed metric's two components at the same positions: the number published is then the harmonic
    mean of their means, not the mean of `values`.
    """

    positions: Sequence[int]
    values: Sequence[float]
    reason: str | None = None
    details: dict[str, Any] = field(default_factory=dict)
    parts: tuple[Sequence[float], Sequence[float]] | None = None
