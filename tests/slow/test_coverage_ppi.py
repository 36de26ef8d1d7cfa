"""How often the PPI interval holds the generating rate, by simulation; the figures stand in docs/statistics.md."""

from __future__ import annotations

import numpy as np
import pytest

from scorer.statistics.ppi import ppi

pytestmark = pytest.mark.slow

QUESTIONS, RATED, CORRELATION, BENCHMARKS = 3610, 1000, 0.7, 1_000


def drawn(rng, rate):
    """Labels and judge's decisions, both true at `rate`, with phi 0.7 between them."""
    labels = rng.random(QUESTIONS) < rate
    both = rate + CORRELATION * (1 - rate)
    judged = rng.random(QUESTIONS) < np.where(labels, both, (1 - both) * rate / (1 - rate))
    return labels.astype(float), judged.astype(float)


def summary(found, rate):
    held = np.mean([each.interval.low <= rate <= each.interval.high for each in found])
    plain = np.mean([each.plain_interval.low <= rate <= each.plain_interval.high for each in found])
    width = np.mean([each.interval.se for each in found]) / np.mean([each.plain_interval.se for each in found])
    narrower = np.mean([each.interval.se < each.plain_interval.se for each in found])
    return held, plain, width, narrower


@pytest.mark.parametrize("rate", [0.3, 0.5, 0.7, 0.9])
def test_the_complete_rated_subset(rate):
    rng = np.random.default_rng(int(rate * 10))
    found, correlation = [], []
    for _ in range(BENCHMARKS):
        labels, judged = drawn(rng, rate)
        correlation.append(np.corrcoef(labels, judged)[0, 1])
        found.append(ppi(labels[:RATED], judged[:RATED], judged[RATED:], "complete"))
    held, plain, width, narrower = summary(found, rate)
    print(f"rate {rate}: PPI {held:.3f}, plain {plain:.3f}, width {width:.3f}, narrower {narrower:.3f}")
    assert np.mean(correlation) == pytest.approx(CORRELATION, abs=0.01)
    assert 0.93 <= held <= 0.97
    assert narrower == 1


@pytest.mark.parametrize("rate", [0.3, 0.6, 0.9])
def test_a_sheet_that_asks_more_where_judge_and_match_disagree(rate):
    """A share of the questions disagree with the answer match; those are rated five times as often."""
    rng = np.random.default_rng(int(rate * 10))
    found = []
    for _ in range(BENCHMARKS):
        labels, judged = drawn(rng, rate)
        match = np.where(rng.random(QUESTIONS) < 0.8, labels, 1 - labels)
        chance = np.where(match != judged, 0.5, 0.1)
        rated = rng.random(QUESTIONS) < chance
        found.append(ppi(labels[rated], judged[rated], judged[~rated], "sheet", chance[rated]))
    held, plain, width, narrower = summary(found, rate)
    print(f"sheet, rate {rate}: PPI {held:.3f}, plain {plain:.3f}, width {width:.3f}, narrower {narrower:.3f}")
    assert 0.92 <= held <= 0.98
    assert width < 1
