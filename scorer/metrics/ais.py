"""AIS (AQA §3.1): share of the rated questions that a strict majority of human raters finds attributable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.records import Item, Label, Measured
from scorer.metrics.reasons import unattributable


class Ais:
    """Denominator: the benchmark's rated questions that have a label, or need none because nothing can be rated."""

    key = "ais"
    title = "AIS"
    help = "Share of the rated questions whose answer a majority of human raters finds supported by its passage."
    version = "1.0"
    rests_on = ("labels",)

    def measure(self, items: Sequence[Item]) -> Measured:
        """0/1 per labelled question.

        `details` has coverage, the bounds if all unrated were negative or positive, the votes behind the labels,
        and what near labels (a triple alike but for the answer's spelling) would add, which never enter the value.
        """
        due = [item for item in items if item.question.rated]
        values: dict[int, float] = {}
        labels: list[Label] = []
        near: list[Label] = []
        for item in due:
            if unattributable(item.prediction) is not None:
                values[item.question.position] = 0.0
            elif item.label is not None:
                labels.append(item.label)
                values[item.question.position] = float(item.label.attributable)
            elif item.near is not None:
                near.append(item.near)
        positive = sum(values.values())
        details = {
            "due": len(due),
            "rated": len(values),
            "labelled": len(labels),
            "coverage": len(values) / len(due) if due else None,
            "bounds": [positive / len(due), (positive + len(due) - len(values)) / len(due)] if due else None,
            **_votes(labels),
            "near": _near(near, positive, len(values)),
        }
        if not due:
            return Measured([], [], "The benchmark has no questions for humans to rate.", details)
        if not labels and len(values) < len(due):
            return Measured([], [], "No human has rated this system's answers yet.", details)
        return Measured(list(values), list(values.values()), details=details)


def _votes(labels: Sequence[Label]) -> dict[str, Any]:
    by_raters = [label for label in labels if not label.pre_aggregated]
    return {
        "votes": sum(label.raters for label in by_raters),
        "ties": sum(2 * label.positive == label.raters for label in by_raters),
        "incomplete": sum(not label.complete for label in labels),
        "pre_aggregated": len(labels) - len(by_raters),
        "synthetic": any(label.synthetic for label in labels),
    }


def _near(near: Sequence[Label], positive: float, rated: int) -> dict[str, Any]:
    attributable = sum(label.attributable for label in near)
    both = rated + len(near)
    return {
        "hits": len(near),
        "attributable": attributable,
        "value_with": (positive + attributable) / both if near else None,
    }
