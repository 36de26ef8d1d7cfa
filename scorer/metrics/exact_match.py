"""Exact match of the answer (AQA §5.2), with guards against empty answers."""

from __future__ import annotations

from collections.abc import Sequence

from core.records import Item, Measured
from scorer.metrics.answers import equal_answers, measure_answers


class ExactMatch:
    """1 if the SQuAD-normalised answer equals any normalised reference; over all questions."""

    key = "em"
    title = "EM"
    help = "Share of questions whose answer equals a reference after SQuAD normalisation; attribution is ignored."
    version = "1.0"
    rests_on: tuple[str, ...] = ()

    def measure(self, items: Sequence[Item]) -> Measured:
        """One 0/1 value per question."""
        return measure_answers(items, lambda answer, refs: float(any(equal_answers(answer, ref) for ref in refs)))
