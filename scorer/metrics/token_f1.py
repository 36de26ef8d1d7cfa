"""Token F1 of the answer (SQuAD), with the guards of exact match."""

from __future__ import annotations

from collections.abc import Sequence

from core.records import Item, Measured
from core.text import squad_normalise
from scorer.metrics.answers import equal_answers, measure_answers, token_f1


class TokenF1:
    """Best token F1 over the references; over all questions."""

    key = "f1"
    title = "F1"
    help = "Best overlap of the answer's words with a reference, after SQuAD normalisation; attribution is ignored."
    version = "1.0"
    rests_on: tuple[str, ...] = ()

    def measure(self, items: Sequence[Item]) -> Measured:
        """One value in [0, 1] per question."""
        return measure_answers(items, lambda answer, refs: max(_f1(answer, ref) for ref in refs))


def _f1(answer: str, reference: str) -> float:
    left, right = squad_normalise(answer), squad_normalise(reference)
    if not left and not right:
        return float(equal_answers(answer, reference))
    return token_f1(left, right)
