"""AIS of the population the questions are drawn from: AutoAIS everywhere, corrected by the rated part (PPI)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.errors import Unavailable
from core.records import Item
from scorer.metrics.reasons import unattributable
from scorer.signature import Recipe
from scorer.statistics.ppi import PPI, Sample, ppi


def population_ais(recipe: Recipe, items: Sequence[Item]) -> dict[str, Any]:
    """The PPI estimate for `details` of AIS: value, both intervals, ratings behind it, or None with the reason.

    Only from a random sample of the questions: the complete rated subset, or a rating sheet all of whose triples
    of this system are rated, where no label came from elsewhere. The judge's p stands in for AutoAIS; an answer that
    cannot be attributable has p 0.
    """
    rated, sample, reason = _sample(items)
    if reason is None:
        try:
            found = _estimate(items, rated, sample)
        except Unavailable as error:
            reason = f"{error.message}. {error.hint}"
        else:
            return _told(found, recipe)
    return {"value": None, "reason": reason, "signature": recipe.of_population()}


def _sample(items: Sequence[Item]) -> tuple[list[Item], Sample, str | None]:
    due = [item for item in items if item.question.rated]
    complete = [item for item in due if item.label is not None or unattributable(item.prediction) is not None]
    if due and len(complete) == len(due):
        if len(due) == len(items):
            return [], "complete", "Every question is rated, so AIS is the population's estimate already."
        return complete, "complete", None
    sampled = [item for item in items if item.sampled is not None]
    labelled = [item for item in items if item.label is not None]
    missing = sum(item.label is None for item in sampled)
    if not sampled or any(item.sampled is None for item in labelled):
        return [], "cache", "The labels at hand are not a random sample of the questions."
    if missing:
        return [], "sheet", f"{missing} of the {len(sampled)} answers drawn for rating are not rated yet."
    return sampled, "sheet", None


def _estimate(items: Sequence[Item], rated: Sequence[Item], sample: Sample) -> PPI:
    chosen = {item.question.position for item in rated}
    # A sheet draws from what can be rated; the complete subset from all questions.
    judgeable = [item for item in items if sample == "complete" or unattributable(item.prediction) is None]
    rest = [_p(item) for item in judgeable if item.question.position not in chosen]
    labels = [float(item.label.attributable) if item.label else 0.0 for item in rated]
    chances = [item.sampled or 1.0 for item in rated] if sample == "sheet" else None
    found = ppi(labels, [_p(item) for item in rated], rest, sample, chances)
    return found if sample == "complete" else found.scaled(len(judgeable) / len(items))


def _p(item: Item) -> float:
    return item.judgment.p if item.judgment is not None else 0.0


def _told(found: PPI, recipe: Recipe) -> dict[str, Any]:
    return {
        "value": found.value, "low": found.interval.low, "high": found.interval.high, "se": found.interval.se,
        "method": found.interval.method, "rated": found.rated, "unrated": found.unrated, "plain": found.plain,
        "plain_low": found.plain_interval.low, "plain_high": found.plain_interval.high,
        "reason": found.reason, "signature": recipe.of_population(),
    }  # fmt: skip
