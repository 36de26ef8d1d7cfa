"""The interval of AIS that carries rater noise too, for `details` of AIS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.records import Item
from scorer.metrics.reasons import unattributable
from scorer.signature import Recipe
from scorer.statistics.raters import estimate_with_raters
from scorer.statistics.resamples import ResampleStore


def with_raters(recipe: Recipe, items: Sequence[Item], resamples: ResampleStore) -> dict[str, Any]:
    """Ends, SE and method over questions and raters, or None with the reason; only where every label has its votes.

    An answer that cannot be attributable needs no vote, so no panel could find otherwise: 0 of 1.
    """
    positive: list[int] = []
    raters: list[int] = []
    for item in items:
        if not item.question.rated:
            continue
        if unattributable(item.prediction) is not None:
            positive.append(0)
            raters.append(1)
        elif item.label is not None:
            if item.label.pre_aggregated:
                return _none("A label is aggregated already: its raters' votes are not known.")
            positive.append(item.label.positive)
            raters.append(item.label.raters)
    if not positive:
        return _none("There is no rated question.")
    store = resamples.get(len(positive), recipe.resamples, recipe.seed)
    found = estimate_with_raters(positive, raters, store)
    ends = found.interval
    return {"low": ends.low, "high": ends.high, "se": ends.se, "method": ends.method, "reason": found.reason}


def _none(reason: str) -> dict[str, Any]:
    return {"low": None, "high": None, "se": None, "method": "none", "reason": reason}
