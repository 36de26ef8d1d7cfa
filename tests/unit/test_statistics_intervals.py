"""Intervals against SciPy, and every input that breaks others."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import bootstrap
from statsmodels.stats.proportion import proportion_confint

from core.records import Interval
from scorer.statistics.bca import acceleration, ends
from scorer.statistics.intervals import estimate, estimates, interval, intervals
from scorer.statistics.resamples import Resamples


def scipy_interval(values, distribution, method="BCa"):
    found = bootstrap(
        (values,),
        np.mean,
        n_resamples=0,
        method=method,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=distribution),
    )
    return found.confidence_interval.low, found.confidence_interval.high, found.standard_error


SAMPLES = {
    "binary": lambda rng: (rng.random(400) < 0.37).astype(float),
    "few successes": lambda rng: (np.arange(300) < 3).astype(float),
    "f1": lambda rng: rng.choice([0, 0, 0.4, 2 / 3, 1], 500),
    "skewed": lambda rng: rng.exponential(size=80),
    "two": lambda rng: np.array([0.2, 0.9]),
    "differences": lambda rng: rng.choice([-1.0, 0, 0, 0, 1], 250),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_equals_scipy_on_the_same_resamples(name):
    drawn = SAMPLES[name](np.random.default_rng(4))
    resamples = Resamples.draw(len(drawn), 2_000, 11)
    # On the grid of exact sums SciPy sees the same ties as we do.
    values = resamples._on_grid(drawn[:, None])[0][:, 0]
    assert values == pytest.approx(drawn, abs=1e-12)
    found = interval(values, resamples)
    assert found.method == "bca"
    assert (found.low, found.high, found.se) == pytest.approx(
        scipy_interval(values, resamples.means(values)), rel=1e-9, abs=1e-9
    )


def test_agrees_with_scipys_own_resamples_within_monte_carlo_error():
    values = (np.random.default_rng(1).random(600) < 0.8).astype(float)
    ours = interval(values, Resamples.draw(600, 9_999, 3))
    theirs = bootstrap((values,), np.mean, n_resamples=9_999, batch=500, rng=np.random.default_rng(8))
    # The 2.5 % quantile of 9,999 draws has a standard error of about 0.027 standard errors of the mean.
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.15 * ours.se)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.15 * ours.se)
    assert ours.se == pytest.approx(theirs.standard_error, rel=0.05)


@settings(max_examples=60, deadline=None)
@given(
    values=arrays(
        np.float64, st.tuples(st.integers(1, 25), st.integers(1, 5)), elements=st.sampled_from([0, 1, 0.5, 0.25])
    )
)
def test_columns_come_out_as_if_alone_and_never_nan(values):
    resamples = Resamples.draw(len(values), 200, 2)
    together = estimates(values, resamples)
    assert together == tuple(estimate(values[:, at], resamples) for at in range(values.shape[1]))
    assert intervals(values, resamples) == tuple(each.interval for each in together)
    for each in together:
        ends_ = (each.interval.low, each.interval.high)
        assert (ends_ == (None, None)) == (each.interval.method == "none") == (each.reason is not None)
        if ends_ != (None, None):
            assert ends_[0] <= ends_[1]
            assert np.isfinite([each.value, *ends_]).all()


@pytest.mark.parametrize("successes", [0, 1])
@pytest.mark.parametrize("n", [1, 2, 30, 3610])
def test_all_right_and_all_wrong_are_wilsons(n, successes):
    found = estimate(np.full(n, float(successes)), Resamples.draw(n, 50, 0))
    low, high = proportion_confint(successes * n, n, method="wilson")
    assert found.value == successes
    assert found.interval.method == "wilson"
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=1e-12)
    assert found.interval.se == (None if n == 1 else 0)


def test_constants_between_have_their_exact_interval():
    assert interval([0.1] * 10, Resamples.draw(10, 50, 0)) == Interval(0.1, 0.1, 0.0, "percentile")


def test_one_question_has_a_value_but_no_interval():
    found = estimate([0.4], Resamples.draw(1, 50, 0))
    assert (found.value, found.n, found.interval) == (0.4, 1, Interval(None, None, None, "none"))
    assert found.reason == "one question has no interval"


def test_no_questions_have_nothing():
    found = estimate([], Resamples.draw(0, 50, 0))
    assert (found.value, found.n, found.reason) == (None, 0, "no questions")
    assert found.interval.method == "none"


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_said_and_spoils_no_other_column(bad):
    values = np.array([[0.0, bad], [1.0, 0.5], [1.0, 0.5]])
    resamples = Resamples.draw(3, 99, 0)
    good, spoiled = estimates(values, resamples)
    assert good == estimate(values[:, 0], resamples)
    assert (spoiled.value, spoiled.interval.method) == (None, "none")
    assert spoiled.reason == "a value is not a finite number"


def test_falls_to_percentile_where_every_resample_lies_on_one_side():
    distribution = np.linspace(1, 2, 101)[:, None]
    found = ends(distribution, np.array([0.5]), np.array([0.0]))
    assert not found.corrected[0]
    assert (found.low[0], found.high[0]) == pytest.approx(np.quantile(distribution, [0.025, 0.975]))


def test_falls_to_percentile_where_the_acceleration_would_turn_the_ends_round():
    distribution = np.linspace(0, 1, 101)[:, None]
    found = ends(distribution, np.array([0.5]), np.array([0.9]))
    assert not found.corrected[0]
    assert found.low[0] < found.high[0]


def test_acceleration_is_that_of_the_jackknife():
    values = np.random.default_rng(0).exponential(size=40)
    jackknife = np.array([np.delete(values, at).mean() for at in range(40)])
    deviations = jackknife.mean() - jackknife
    expected = (deviations**3).sum() / (6 * (deviations**2).sum() ** 1.5)
    assert acceleration((values - values.mean())[:, None])[0] == pytest.approx(expected)


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError):
        interval([1.0, 0.0], Resamples.draw(3, 10, 0))
