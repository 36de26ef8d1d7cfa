"""The PPI estimate beside AIS: from random samples only, equal to the library's own call."""

from __future__ import annotations

import numpy as np
import pytest

from core.benchmark import Benchmark
from core.records import Item, Judgment, Label, Prediction, Question
from scorer.population import population_ais
from scorer.signature import Recipe

N, RATED = 600, 200


def items(rated: int = RATED, labelled: int = RATED, sheet: bool = False, unrated_answers: int = 0) -> list[Item]:
    draws = np.random.default_rng(3)
    made = []
    for at in range(N):
        good = bool(draws.random() < 0.6)
        p = float(np.clip(0.7 * good + 0.3 * draws.random(), 0, 1))
        absent = at >= N - unrated_answers
        prediction = None if absent else Prediction(at, "a", "x", "x")
        label = Label(at, "a", "x", 3, 5, good) if at < labelled else None
        question = Question(at, str(at), f"q{at}", ("a",), rated=at < rated)
        sampled = 0.25 if sheet and at < RATED else None
        made.append(Item(question, prediction, None if absent else Judgment(p, "1"), label, None, sampled))
    return made


@pytest.fixture
def recipe() -> Recipe:
    benchmark = Benchmark("b", "B", "0" * 64, "", (), 5, 0.95, False)
    return Recipe(benchmark, "judge:small@1|tmpl:aqa", "abc", 99, 1)


def test_a_complete_rated_subset_gives_the_librarys_estimate(recipe: Recipe) -> None:
    from ppi_py import ppi_mean_pointestimate

    made = items()
    found = population_ais(recipe, made)
    truth = np.array([float(item.label.attributable) for item in made[:RATED]])
    p = np.array([item.judgment.p for item in made])
    expected = float(np.squeeze(ppi_mean_pointestimate(truth, p[:RATED], p[RATED:], lam=None)))
    assert found["value"] == pytest.approx(expected, abs=1e-9)
    assert found["low"] < found["value"] < found["high"]
    assert found["high"] - found["low"] < found["plain_high"] - found["plain_low"]
    assert (found["rated"], found["unrated"], found["reason"]) == (RATED, N - RATED, None)
    assert found["plain"] == pytest.approx(truth.mean())
    assert found["signature"] == "ais_ppi|bench:b@000000000000|judge:small@1|tmpl:aqa|labels:abc|alpha:0.05|v:1.0"


def test_a_fully_rated_sheet_counts_as_a_sample_and_absent_answers_as_known(recipe: Recipe) -> None:
    whole = population_ais(recipe, items(rated=N, sheet=True))
    assert whole["value"] == pytest.approx(0.6, abs=0.1)
    third = population_ais(recipe, items(rated=N, sheet=True, unrated_answers=200))
    assert third["value"] == pytest.approx(0.6 * 400 / 600, abs=0.1)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"labelled": 150}, "not a random sample"),
        ({"labelled": 0}, "not a random sample"),
        ({"rated": N, "labelled": N}, "Every question is rated"),
        ({"rated": N, "labelled": 150, "sheet": True}, "50 of the 200"),
        ({"rated": N, "labelled": 250, "sheet": True}, "not a random sample"),
        ({"rated": 50, "labelled": 50}, "50 rated questions; 100 are needed"),
    ],
)
def test_anything_else_is_null_with_the_reason(recipe: Recipe, given: dict[str, int], words: str) -> None:
    found = population_ais(recipe, items(**given))
    assert found["value"] is None
    assert words in found["reason"]
