"""The PPI estimate against its formula, and the conditions under which there is none."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from scorer.statistics.ppi import ppi


def population(n=3610, rate=0.6, seed=0):
    """Labels and judge scores that correlate at about 0.7."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(n) < rate).astype(float)
    judged = np.where(rng.random(n) < 0.85, labels, 1 - labels)
    return labels, judged, rng


def test_equals_the_formula_of_the_paper():
    """Angelopoulos et al. 2023 (PPI++): lambda = cov / var / (1 + n/N), mean and variance of the two parts."""
    labels, judged, _ = population()
    y, near, far = labels[:1000], judged[:1000], judged[1000:]
    found = ppi(y, near, far, "complete")
    slope = np.cov(y, near, ddof=0)[0, 1] / np.var(judged, ddof=1) / (1 + 1000 / 2610)
    value = slope * far.mean() + (y - slope * near).mean()
    se = np.sqrt(slope**2 * far.var() / 2610 + (y - slope * near).var() / 1000)
    assert found.value == pytest.approx(value, abs=1e-9)
    assert found.interval.se == pytest.approx(se, rel=1e-6)
    assert (found.interval.low, found.interval.high) == pytest.approx(
        (value - 1.959963984540054 * se, value + 1.959963984540054 * se)
    )
    assert found.plain == pytest.approx(y.mean())
    assert found.plain_interval.se == pytest.approx(y.std() / np.sqrt(1000))
    assert found.interval.se < found.plain_interval.se
    assert (found.interval.method, found.plain_interval.method) == ("ppi", "normal")
    assert (found.rated, found.unrated, found.reason) == (1000, 2610, None)


def test_equal_probabilities_are_the_plain_sample():
    labels, judged, _ = population()
    parts = labels[:500], judged[:500], judged[500:]
    assert ppi(*parts, "sheet", np.full(500, 0.2)) == ppi(*parts, "complete")


def test_unequal_probabilities_are_weighted():
    """Questions that the judge doubts are rated four times as often: unweighted, the mean would be far off."""
    labels, judged, rng = population(40_000, rate=0.7)
    chance = np.where(judged == 0, 0.2, 0.05)
    rated = rng.random(len(labels)) < chance
    found = ppi(labels[rated], judged[rated], judged[~rated], "sheet", chance[rated])
    assert abs(labels[rated].mean() - labels.mean()) > 0.15
    assert abs(found.value - labels.mean()) < 3 * found.interval.se
    assert abs(found.plain - labels.mean()) < 3 * found.plain_interval.se
    assert found.interval.se < found.plain_interval.se


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda y, a, b: (y, a, b, "cache"), "cached labels are not a random sample of the questions"),
        (lambda y, a, b: (y[:99], a[:99], b, "complete"), "99 rated questions; 100 are needed"),
        (lambda y, a, b: (np.arange(200) < 9, a, b, "complete"), "9 rated questions in the rarer class; 10 are needed"),
        (
            lambda y, a, b: (np.arange(200) >= 9, a, b, "complete"),
            "9 rated questions in the rarer class; 10 are needed",
        ),
        (lambda y, a, b: (y, a, b[:0], "complete"), "every question is rated, so there is nothing to infer"),
        (lambda y, a, b: (y, a * 0, b * 0, "complete"), "the judge scores every question alike"),
        (lambda y, a, b: (y, a, b * np.nan, "complete"), "a label or a judge's score is not a finite number"),
        (lambda y, a, b: (y + 0.5, a, b, "complete"), "labels must be attributable or not"),
    ],
)
def test_without_its_conditions_there_is_none_and_a_reason(change, reason):
    labels, judged, _ = population(1000)
    found = ppi(*change(labels[:200], judged[:200], judged[200:]))
    assert (found.value, found.plain, found.reason) == (None, None, reason)
    assert found.interval.method == found.plain_interval.method == "none"


def test_the_smallest_sample_that_is_enough():
    labels = (np.arange(100) < 10).astype(float)
    judged = np.random.default_rng(0).random(400)
    found = ppi(labels, judged[:100], judged[100:], "complete")
    assert found.reason is None
    assert 0 <= found.interval.low < found.value < found.interval.high


@pytest.mark.parametrize("chances", [None, [0.5], np.zeros(200), np.full(200, 1.1)])
def test_a_sheet_without_its_probabilities_is_refused(chances):
    labels, judged, _ = population(1000)
    with pytest.raises(ValueError):
        ppi(labels[:200], judged[:200], judged[200:], "sheet", chances)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError):
        ppi(np.ones(3), np.ones(2), np.ones(2), "complete")


def test_the_library_does_not_silence_the_process():
    before = list(warnings.filters)
    labels, judged, _ = population(1000)
    ppi(labels[:200], judged[:200], judged[200:], "complete")
    assert list(warnings.filters) == before
