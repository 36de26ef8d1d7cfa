"""What the answer-matching metrics share: the guards, the best over references, and token F1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from core.records import Item, Measured
from core.text import squad_normalise


def measure_answers(items: Sequence[Item], score: Callable[[str, Sequence[str]], float]) -> Measured:
    """Score every question's answer against its references; a missing or blank answer scores 0."""
    values = [
        score(item.prediction.answer, item.question.references)
        if item.prediction is not None and item.prediction.answer.strip()
        else 0.0
        for item in items
    ]
    return Measured([item.question.position for item in items], values)


def equal_answers(answer: str, reference: str, normalise: Callable[[str], str] = squad_normalise) -> bool:
    """Equal once normalised; where both normalise to nothing, equal only if the trimmed texts are."""
    left, right = normalise(answer), normalise(reference)
    if left or right:
        return left == right
    return answer.strip() == reference.strip()


def token_f1(left: str, right: str) -> float:
    """Harmonic mean of token precision and recall of two normalised texts (SQuAD); 0 if nothing is shared."""
    left_tokens, right_tokens = left.split(), right.split()
    shared = sum((Counter(left_tokens) & Counter(right_tokens)).values())
    if shared == 0:
        return 0.0
    precision, recall = shared / len(left_tokens), shared / len(right_tokens)
    return 2 * precision * recall / (precision + recall)
