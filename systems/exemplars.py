"""Which training questions a prompt shows (AQA §4.2): a fixed random 64, or the 64 most similar by BM25."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol

from core.records import Question
from core.text import canonical_question
from systems.prompts import Exemplar
from systems.retrieval.term_search import search_texts

Pool = Sequence[tuple[str, tuple[str, ...]]]


class Chooser(Protocol):
    """Chooses exemplars for questions."""

    @property
    def signature(self) -> str:
        """How it chooses, how many and from what."""
        ...

    def choose(self, questions: Sequence[Question]) -> list[list[Exemplar]]:
        """The exemplars of each question in the order they are shown; never the question itself."""
        ...


class Fixed:
    """The same exemplars for every question, drawn once by the seed, and one in reserve."""

    def __init__(self, pool: Pool, shots: int, seed: int) -> None:
        drawn = random.Random(seed).sample(list(pool), min(shots + 1, len(pool)))
        self._exemplars = [Exemplar(question, answers[0]) for question, answers in drawn]
        self._shots = shots
        self.signature = f"exemplars:NQ-64,shots={shots},of={len(pool)},seed={seed}"

    def choose(self, questions: Sequence[Question]) -> list[list[Exemplar]]:
        """The fixed list; the reserve steps in where it holds the question itself."""
        return [_without(self._exemplars, question)[: self._shots] for question in questions]


class Own:
    """Exemplars written for a prompt, the same for every question; those of `answer-url@1` name their pages."""

    def __init__(self, written: Sequence[Exemplar], shots: int) -> None:
        self._exemplars = list(written[:shots])
        self.signature = f"exemplars:own,shots={len(self._exemplars)}"

    def choose(self, questions: Sequence[Question]) -> list[list[Exemplar]]:
        """The list, less the question itself where it is in it."""
        return [_without(self._exemplars, question) for question in questions]


class Similar:
    """The most similar training questions by BM25, the most similar shown last, next to the question."""

    def __init__(self, pool: Pool, shots: int) -> None:
        self._pool = [Exemplar(question, answers[0]) for question, answers in pool]
        self._search = search_texts([each.question for each in self._pool])
        self._shots = shots
        self.signature = f"exemplars:NQ-full,shots={shots},of={len(self._pool)}"

    def choose(self, questions: Sequence[Question]) -> list[list[Exemplar]]:
        """The similar ones; filled up from the pool's start where fewer share a word with the question."""
        hits = self._search.search([question.text for question in questions], self._shots + 1)
        return [self._of(question, [at for at, _ in each]) for question, each in zip(questions, hits, strict=True)]

    def _of(self, question: Question, similar: list[int]) -> list[Exemplar]:
        rest = (at for at in range(min(len(self._pool), 2 * self._shots + 2)) if at not in similar)
        ordered = _without([self._pool[at] for at in [*similar, *rest]], question)
        return ordered[: self._shots][::-1]


def _without(exemplars: Sequence[Exemplar], question: Question) -> list[Exemplar]:
    own = canonical_question(question.text).casefold()
    return [each for each in exemplars if canonical_question(each.question).casefold() != own]
