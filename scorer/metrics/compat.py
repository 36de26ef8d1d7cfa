"""The public T5 `squad` metric as it is, missing answers as "", for comparison with earlier papers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.records import Item, Measured
from core.text import squad_normalise
from scorer.metrics.answers import token_f1


class CompatExactMatch:
    """EM without our guards: an empty answer matches a reference that normalises to nothing."""

    key = "em_compat"
    title = "EM (T5)"
    help = "EM exactly as the public T5 metric computes it, which credits empty answers on a few questions."
    version = "1.0"
    rests_on: tuple[str, ...] = ()

    def measure(self, items: Sequence[Item]) -> Measured:
        """One 0/1 value per question."""
        return _measure(items, lambda answer, reference: float(answer == reference))


class CompatF1:
    """F1 without our guards."""

    key = "f1_compat"
    title = "F1 (T5)"
    help = "F1 exactly as the public T5 metric computes it."
    version = "1.0"
    rests_on: tuple[str, ...] = ()

    def measure(self, items: Sequence[Item]) -> Measured:
        """One value in [0, 1] per question."""
        return _measure(items, token_f1)


def _measure(items: Sequence[Item], score: Callable[[str, str], float]) -> Measured:
    values = []
    for item in items:
        answer = squad_normalise(item.prediction.answer if item.prediction else "")
        values.append(max(score(answer, squad_normalise(reference)) for reference in item.question.references))
    return Measured([item.question.position for item in items], values)
