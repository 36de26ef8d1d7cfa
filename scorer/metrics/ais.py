"""AIS (AQA §3.1): share of the rated questions that a strict majority of human raters finds attributable."""

from __future__ import annotations

from collections.abc import Sequence

from core.records import Item, Measured
from scorer.metrics.reasons import unattributable


class Ais:
    """Denominator: the benchmark's rated questions that have a label, or need none because nothing can be rated."""

    key = "ais"
    title = "AIS"
    help = "Share of the rated questions whose answer a majority of human raters finds supported by its passage."
    version = "1.0"

    def measure(self, items: Sequence[Item]) -> Measured:
        """0/1 per labelled question; `details` has coverage and the bounds if all unrated were negative or positive."""
        due = [item for item in items if item.question.rated]
        values: dict[int, float] = {}
        labelled = 0
        for item in due:
            if unattributable(item.prediction) is not None:
                values[item.question.position] = 0.0
            elif item.label is not None:
                labelled += 1
                values[item.question.position] = float(item.label.attributable)
        positive = sum(values.values())
        details = {
            "due": len(due),
            "rated": len(values),
            "labelled": labelled,
            "coverage": len(values) / len(due) if due else None,
            "bounds": [positive / len(due), (positive + len(due) - len(values)) / len(due)] if due else None,
        }
        if not due:
            return Measured([], [], "The benchmark has no questions for humans to rate.", details)
        if not labelled and len(values) < len(due):
            return Measured([], [], "No human has rated this system's answers yet.", details)
        return Measured(list(values), list(values.values()), details=details)
