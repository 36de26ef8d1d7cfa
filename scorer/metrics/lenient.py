"""Exact match that also forgives dashes, quotes, zero-width characters and Unicode forms."""

from __future__ import annotations

from collections.abc import Sequence

from core.records import Item, Measured
from core.text import lenient_normalise
from scorer.metrics.answers import equal_answers, measure_answers


class LenientExactMatch:
    """Published beside EM, never instead of it."""

    key = "em_lenient"
    title = "EM lenient"
    help = "As EM, with dashes, quotes and Unicode forms folded first; shows what typography alone costs."
    version = "1.0"
    rests_on: tuple[str, ...] = ()

    def measure(self, items: Sequence[Item]) -> Measured:
        """One 0/1 value per question."""
        return measure_answers(
            items,
            lambda answer, refs: float(any(equal_answers(answer, ref, lenient_normalise) for ref in refs)),
        )
