"""The interval with rater noise beside AIS: from votes only, wider than that over questions alone."""

from __future__ import annotations

import numpy as np
import pytest

from core.benchmark import Benchmark
from core.records import Item, Label, Prediction, Question
from scorer.metrics.ais import Ais
from scorer.rater_noise import with_raters
from scorer.signature import Recipe
from scorer.statistics.intervals import estimate
from scorer.statistics.resamples import ResampleStore


@pytest.fixture
def recipe() -> Recipe:
    return Recipe(Benchmark("b", "B", "0" * 64, "", (), 5, 0.95, False), "judge:small@1|tmpl:aqa", "abc", 999, 1)


def items(pre_aggregated: bool = False) -> list[Item]:
    draws = np.random.default_rng(2)
    made = []
    for at in range(80):
        votes = int(draws.integers(0, 6))
        label = Label(at, "a", "x", votes, 5, 2 * votes > 5, pre_aggregated=pre_aggregated)
        made.append(Item(Question(at, str(at), f"q{at}", ("a",)), Prediction(at, "a", "x", "x"), None, label))
    return [*made, Item(Question(80, "80", "q80", ("a",)), None)]


def test_it_lies_about_ais_and_is_wider(recipe: Recipe) -> None:
    store, given = ResampleStore(), items()
    values = Ais().measure(given).values
    plain = estimate(values, store.get(len(values), recipe.resamples, recipe.seed))
    found = with_raters(recipe, given, store)
    assert found["low"] < plain.value < found["high"]
    assert found["se"] > plain.interval.se
    assert found["reason"] is None


def test_aggregated_labels_have_no_votes(recipe: Recipe) -> None:
    found = with_raters(recipe, items(pre_aggregated=True), ResampleStore())
    assert (found["low"], found["high"], found["method"]) == (None, None, "none")
    assert "not known" in found["reason"]
