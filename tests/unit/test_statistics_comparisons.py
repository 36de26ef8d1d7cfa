"""Paired comparisons and rank intervals against SciPy, statsmodels and direct loops."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import brentq
from scipy.stats import bootstrap, permutation_test, ttest_rel
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests

from scorer.statistics.comparisons import SAME_DIFFERENCE, SAME_EVERYWHERE, all_pairs, compare
from scorer.statistics.intervals import wilson
from scorer.statistics.paired_tests import all_pairs_of, differences, holm, paired_t
from scorer.statistics.ranks import Rank, rank_intervals
from scorer.statistics.resamples import Resamples


def systems(n=500, k=6, seed=0):
    rng = np.random.default_rng(seed)
    hard = rng.random((n, 1))
    return (rng.random((n, k)) * 0.5 + hard * 0.5 < np.linspace(0.3, 0.8, k)).astype(float)


def statsmodels_holm(p):
    return multipletests(p, method="holm")[1]


def test_all_pairs_equal_a_loop_over_libraries():
    values = systems()
    resamples = Resamples.draw(500, 999, 1)
    found = all_pairs(values, resamples)
    assert [(each.first, each.second) for each in found] == list(combinations(range(6), 2))
    expected = statsmodels_holm(
        np.array([ttest_rel(values[:, i], values[:, j]).pvalue for i, j in combinations(range(6), 2)])
    )
    for each, adjusted in zip(found, expected, strict=True):
        first, second = values[:, each.first], values[:, each.second]
        direct = ttest_rel(first, second)
        assert each.difference == pytest.approx(first.mean() - second.mean(), abs=1e-12)
        assert (each.t, each.p) == pytest.approx((direct.statistic, direct.pvalue), rel=1e-9)
        assert each.p_holm == pytest.approx(adjusted, rel=1e-9)
        table = [
            [np.sum((first == 1) & (second == 1)), np.sum((first == 1) & (second == 0))],
            [np.sum((first == 0) & (second == 1)), np.sum((first == 0) & (second == 0))],
        ]
        assert (each.mcnemar.first_only, each.mcnemar.second_only) == (table[0][1], table[1][0])
        assert each.mcnemar.p == pytest.approx(statsmodels_mcnemar(table, exact=True).pvalue, rel=1e-9)
    assert [each.mcnemar.p_holm for each in found] == pytest.approx(
        statsmodels_holm(np.array([each.mcnemar.p for each in found]))
    )


def test_the_interval_is_that_of_the_differences_on_the_shared_resamples():
    values = systems(k=2)
    resamples = Resamples.draw(500, 2_000, 1)
    found = compare(values[:, 0], values[:, 1], resamples).interval

    class Shared:
        bootstrap_distribution = resamples.means(values[:, 0] - values[:, 1])

    expected = bootstrap((values[:, 0] - values[:, 1],), np.mean, n_resamples=0, bootstrap_result=Shared)
    assert found.method == "bca"
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval), abs=1e-12)
    assert found.se == pytest.approx(expected.standard_error, rel=1e-9)


def test_the_interval_agrees_with_scipys_paired_bootstrap():
    values = systems(k=2)
    found = compare(values[:, 0], values[:, 1], Resamples.draw(500, 9_999, 1)).interval
    theirs = bootstrap(
        (values[:, 0], values[:, 1]),
        lambda x, y, axis: np.mean(x, axis=axis) - np.mean(y, axis=axis),
        paired=True,
        n_resamples=9_999,
        batch=500,
        rng=np.random.default_rng(5),
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx(tuple(theirs), abs=0.15 * found.se)


@pytest.mark.parametrize("n", [1, 2, 300])
@pytest.mark.parametrize("kind", ["binary", "graded"])
def test_identical_systems(n, kind):
    values = systems(n)[:, 0] if kind == "binary" else np.random.default_rng(0).random(n)
    found = compare(values, values, Resamples.draw(n, 99, 0))
    assert (found.difference, found.p, found.p_holm, found.t) == (0, 1, 1, None)
    assert found.reason == SAME_EVERYWHERE
    if kind == "binary":
        assert (found.mcnemar.first_only, found.mcnemar.second_only, found.mcnemar.p) == (0, 0, 1)
    if n > 1:
        assert found.interval.low <= 0 <= found.interval.high


@pytest.mark.parametrize("n", [1, 2, 5, 300])
def test_all_right_against_all_wrong(n):
    found = compare(np.ones(n), np.zeros(n), Resamples.draw(n, 99, 0))
    assert (found.difference, found.t, found.reason) == (1, None, SAME_DIFFERENCE)
    assert found.p == pytest.approx(2.0 ** (1 - n)) == found.mcnemar.p
    mirrored = compare(np.zeros(n), np.ones(n), Resamples.draw(n, 99, 0))
    assert (mirrored.interval.low, mirrored.interval.high) == (-found.interval.high, -found.interval.low)


def test_the_sign_flip_p_is_the_exact_permutation_tests():
    exact = permutation_test(
        (np.full(6, 0.4), np.full(6, 0.1)), lambda x, y: np.mean(x - y), permutation_type="samples"
    )
    found = compare(np.full(6, 0.4), np.full(6, 0.1), Resamples.draw(6, 99, 0))
    assert found.p == pytest.approx(exact.pvalue)
    assert (found.interval.low, found.interval.high, found.interval.method) == (
        found.difference,
        found.difference,
        "percentile",
    )


@pytest.mark.parametrize(("n", "first_only"), [(1, 1), (7, 7), (300, 300), (40, 0)])
def test_constant_differences_have_tangos_score_interval(n, first_only):
    """Tango 1998: the ends solve (b - c - n d) / sqrt(n (2 q + d (1 - d))) = +-z with q the constrained MLE."""
    b, c, z = first_only, 0, 1.959963984540054

    def score(d):
        half = -b - c + (2 * n - b + c) * d
        q = (np.sqrt(half**2 + 8 * n * c * d * (1 - d)) - half) / (4 * n)
        return (b - c - n * d) / np.sqrt(n * (2 * q + d * (1 - d)))

    right = np.ones(n) if first_only else np.zeros(n)
    found = compare(right, np.zeros(n), Resamples.draw(n, 99, 0)).interval
    assert found.method == "wilson"
    if first_only:
        assert found.low == pytest.approx(brentq(lambda d: score(d) - z, -0.9999, 0.9999), abs=1e-9)
        assert found.high == 1
    else:
        assert found.high == pytest.approx(brentq(lambda d: score(d) + z, 1e-9, 0.9999), abs=1e-9)
        assert found.high == pytest.approx(wilson(0, n)[1], abs=1e-12) == -found.low


def test_differences_equal_up_to_rounding_are_one_difference():
    found = compare([0.5, 0.3, 0.9], [0.4, 0.2, 0.8], Resamples.draw(3, 99, 0))
    assert found.t is None
    assert found.p == 0.25


def test_nothing_in_common_and_what_is_not_finite_have_reasons():
    found = compare([], [], Resamples.draw(0, 99, 0))
    assert (found.difference, found.p, found.interval.method, found.n) == (None, None, "none", 0)
    assert found.reason == "no questions in common"
    values = systems(40, 3)
    values[3, 1] = np.nan
    one, other, third = all_pairs(values, Resamples.draw(40, 99, 0))
    assert (one.difference, third.difference) == (None, None)
    assert one.reason == "a value is not a finite number"
    alone = all_pairs(values[:, [0, 2]], Resamples.draw(40, 99, 0))[0]
    assert (other.difference, other.interval, other.p_holm) == (alone.difference, alone.interval, alone.p_holm)


def test_holm_counts_only_ranked_systems():
    values = systems(k=4)
    resamples = Resamples.draw(500, 99, 0)
    found = all_pairs(values, resamples, ranked=[True, False, True, True])
    inner = all_pairs(values[:, [0, 2, 3]], resamples)
    assert [each.p_holm for each in found if 1 not in (each.first, each.second)] == [each.p_holm for each in inner]
    assert all(each.p_holm is None for each in found if 1 in (each.first, each.second))


def test_more_pairs_than_one_block_holds():
    values = systems(60, 30)
    resamples = Resamples.draw(60, 50, 0)
    found = all_pairs(values, resamples)
    assert len(found) == 435
    for each in (found[0], found[300], found[434]):
        alone = compare(values[:, each.first], values[:, each.second], resamples)
        assert (each.difference, each.interval, each.t, each.p) == (
            alone.difference,
            alone.interval,
            alone.t,
            alone.p,
        )


@settings(max_examples=40, deadline=None)
@given(values=arrays(np.float64, st.tuples(st.integers(1, 12), st.just(3)), elements=st.sampled_from([0, 1, 0.5])))
def test_never_nan(values):
    for each in all_pairs(values, Resamples.draw(len(values), 50, 0)):
        numbers = [
            each.difference,
            each.t,
            each.p,
            each.p_holm,
            each.interval.low,
            each.interval.high,
            each.interval.se,
        ]
        assert all(np.isfinite(number) for number in numbers if number is not None)
        assert 0 <= each.p <= each.p_holm <= 1
        assert (each.t is None) == (each.reason is not None)


@settings(max_examples=40, deadline=None)
@given(
    values=arrays(
        np.float64, st.tuples(st.integers(2, 30), st.just(4)), elements=st.sampled_from([0, 1, 0.5, 0.1, 0.1 + 1e-9])
    )
)
def test_t_from_covariances_is_that_of_the_differences(values):
    first, second = all_pairs_of(4)
    found = paired_t(values, first, second)
    for at, (i, j) in enumerate(zip(first, second, strict=True)):
        each = differences(values, first[at : at + 1], second[at : at + 1])[:, 0]
        if np.ptp(each) == 0:
            assert found.constant[at]
            assert np.isnan(found.t[at])
            assert found.p[at] == (1 if each[0] == 0 else min(1, 2.0 ** (1 - len(values))))
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                direct = ttest_rel(values[:, i], values[:, j])
            # Differences of 1e-9 keep three digits on the grid of 2**-40.
            assert (found.t[at], found.p[at]) == pytest.approx((direct.statistic, direct.pvalue), rel=1e-3)


@given(p=arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 1)))
@settings(max_examples=25, deadline=None)
def test_holm_equals_statsmodels(p):
    assert holm(p) == pytest.approx(statsmodels_holm(p), rel=1e-12, abs=1e-300)


def test_holm_of_nothing():
    assert len(holm(np.array([]))) == 0
    assert [len(each) for each in all_pairs_of(1)] == [0, 0]
    assert all_pairs(np.ones((3, 1)), Resamples.draw(3, 9, 0)) == ()


def ranks_by_hand(values):
    k = values.shape[1]
    pairs = list(combinations(range(k), 2))
    adjusted = statsmodels_holm(np.array([ttest_rel(values[:, i], values[:, j]).pvalue for i, j in pairs]))
    better, worse = [0] * k, [0] * k
    for (i, j), p in zip(pairs, adjusted, strict=True):
        if p <= 0.05:
            winner, loser = (i, j) if values[:, i].mean() > values[:, j].mean() else (j, i)
            worse[winner] += 1
            better[loser] += 1
    return tuple(Rank(1 + better[at], k - worse[at], k) for at in range(k))


def test_rank_intervals_equal_a_count_by_hand():
    values = systems(80, 8, seed=3)
    found = rank_intervals(values)
    assert found == ranks_by_hand(values)
    assert {each.worst - each.best for each in found} != {0}
    assert found[0].best > 1


def test_identical_and_extreme_systems_rank():
    values = np.column_stack([np.ones(50), np.zeros(50), np.zeros(50)])
    assert rank_intervals(values) == (Rank(1, 1, 3), Rank(2, 3, 3), Rank(2, 3, 3))
    assert rank_intervals(values[:1]) == (Rank(1, 3, 3),) * 3


def test_unranked_systems_have_no_rank_and_change_nothing():
    values = systems(400, 5)
    spoiled = np.insert(values, 2, np.nan, axis=1)
    found = rank_intervals(spoiled, ranked=[True, True, False, True, True, True])
    assert found[2] is None
    assert tuple(each for each in found if each) == rank_intervals(values)
    assert rank_intervals(values, ranked=[False] * 5) == (None,) * 5
    assert rank_intervals(values, ranked=[True] + [False] * 4)[0] == Rank(1, 1, 1)
    with pytest.raises(ValueError):
        rank_intervals(spoiled)
