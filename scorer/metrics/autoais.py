"""AutoAIS (AQA §5.2): share of answers that a judge finds entailed by their attribution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core.errors import AqaError
from core.records import Item, Measured
from scorer.judges.verdict import THRESHOLD, near
from scorer.metrics.reasons import unattributable


class AutoAis:
    """1 if the judge's p is at least 0.5; absent or unknown parts count as 0 under their own reason."""

    key = "autoais"
    title = "AutoAIS"
    help = "Share of answers that the judge named beside it finds supported by their passage (p ≥ 0.5)."
    version = "1.0"
    rests_on = ("judge", "threshold")

    def measure(self, items: Sequence[Item]) -> Measured:
        """One 0/1 value per question; `details` counts the reasons, rows near the threshold and cut premises."""
        counts: Counter[str] = Counter()
        values = [self._value(item, counts) for item in items]
        return Measured([item.question.position for item in items], values, details={"counts": dict(counts)})

    def _value(self, item: Item, counts: Counter[str]) -> float:
        reason = unattributable(item.prediction)
        if reason is not None:
            counts[reason] += 1
            return 0.0
        if item.judgment is None:
            raise AqaError(f"Question {item.question.id!r} was not judged.", "Score it again.")
        counts["judged"] += 1
        # Not every judge flags what is near; whether it does or not, such a row counts once.
        close = near(item.judgment.p)
        counts["near_threshold"] += bool(close)
        counts.update(flag for flag in item.judgment.flags if flag not in close)
        return float(item.judgment.p >= THRESHOLD)
