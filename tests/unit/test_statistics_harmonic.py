"""Harmonic means of two means: intervals against SciPy's, comparisons, and the tangent that ranks them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap

from scorer.statistics.harmonic import compare_harmonic, estimate_harmonic, harmonic, linearised
from scorer.statistics.resamples import Resamples

RNG = np.random.default_rng(7)
PAIRS = np.column_stack([RNG.beta(1, 2, 200), RNG.beta(8, 1, 200)])
OTHER = np.clip(PAIRS + RNG.normal(0.05, 0.1, PAIRS.shape), 0, 1)
DRAWN = Resamples.draw(200, 9_999, 5)


def of_means(first: np.ndarray, second: np.ndarray, axis: int = -1) -> np.ndarray:
    a, b = first.mean(axis=axis), second.mean(axis=axis)
    return np.asarray(2 * a * b / (a + b))


def test_the_interval_is_scipys() -> None:
    found = estimate_harmonic(PAIRS, DRAWN)
    right = bootstrap(
        tuple(PAIRS.T), of_means, paired=True, vectorized=True, n_resamples=9_999, batch=500, method="BCa", rng=3
    )
    assert found.value == pytest.approx(float(of_means(*PAIRS.T)))
    assert found.interval.method == "bca"
    # Two seeds of 9,999 resamples differ by this much.
    assert found.interval.low == pytest.approx(right.confidence_interval.low, abs=0.002)
    assert found.interval.high == pytest.approx(right.confidence_interval.high, abs=0.002)
    assert found.interval.se == pytest.approx(right.standard_error, rel=0.05)


def test_the_difference_is_scipys() -> None:
    def apart(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray, axis: int = -1) -> np.ndarray:
        return of_means(a, b, axis) - of_means(c, d, axis)

    found = compare_harmonic(OTHER, PAIRS, DRAWN)
    right = bootstrap(
        (*OTHER.T, *PAIRS.T), apart, paired=True, vectorized=True, n_resamples=9_999, batch=500, method="BCa", rng=3
    )
    assert found.difference == pytest.approx(float(apart(*OTHER.T, *PAIRS.T)))
    assert found.interval.low == pytest.approx(right.confidence_interval.low, abs=0.001)
    assert found.interval.high == pytest.approx(right.confidence_interval.high, abs=0.001)
    assert found.t is not None
    assert found.t == pytest.approx(found.difference / found.interval.se, rel=0.05)
    back = compare_harmonic(PAIRS, OTHER, DRAWN)
    assert (back.difference, back.t, back.p) == (
        pytest.approx(-found.difference), pytest.approx(-found.t), pytest.approx(found.p),
    )  # fmt: skip
    assert back.mcnemar is None


def test_the_tangent_has_the_harmonic_mean_and_its_spread() -> None:
    values = linearised(PAIRS)
    assert values.mean() == pytest.approx(harmonic(*PAIRS.mean(axis=0)))
    assert values.std(ddof=1) / 200**0.5 == pytest.approx(estimate_harmonic(PAIRS, DRAWN).interval.se, rel=0.05)
    assert linearised(np.zeros((3, 2))).tolist() == [0, 0, 0]


def test_what_no_resample_tells() -> None:
    few = Resamples.draw(4, 99, 1)
    nothing = estimate_harmonic(np.column_stack([np.zeros(4), np.ones(4)]), few)
    assert (nothing.value, nothing.interval.method) == (0.0, "none")
    assert nothing.reason is not None
    same = estimate_harmonic(np.full((4, 2), 0.5), few)
    assert (same.value, same.interval.low, same.interval.high) == (0.5, 0.5, 0.5)
    one = estimate_harmonic([[0.5, 1.0]], Resamples.draw(1, 99, 1))
    assert (one.value, one.interval.method) == (pytest.approx(2 / 3), "none")
    assert estimate_harmonic([], Resamples.draw(0, 99, 1)).value is None


def test_two_identical_systems() -> None:
    found = compare_harmonic(PAIRS, PAIRS, DRAWN)
    assert (found.difference, found.p, found.t) == (0.0, 1.0, None)
    assert found.reason is not None
    zeros = compare_harmonic(np.zeros((200, 2)), PAIRS * [0, 1], DRAWN)
    assert (zeros.difference, zeros.p) == (0.0, 1.0)
    none = compare_harmonic(np.zeros((0, 2)), np.zeros((0, 2)), Resamples.draw(0, 99, 1))
    assert (none.difference, none.reason) == (None, "no questions in common")
    single = compare_harmonic([[1.0, 1.0]], [[0.5, 1.0]], Resamples.draw(1, 99, 1))
    assert single.difference == pytest.approx(1 / 3)


def test_shapes_and_numbers_that_do_not_fit() -> None:
    for bad in (PAIRS[:-1], np.full((200, 2), np.nan)):
        with pytest.raises(ValueError):
            estimate_harmonic(bad, DRAWN)
