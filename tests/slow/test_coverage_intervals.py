"""How often the intervals hold the truth, by simulation; the figures stand in docs/statistics.md."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from scorer.statistics.comparisons import all_pairs, compare
from scorer.statistics.correlations import correlate
from scorer.statistics.intervals import intervals
from scorer.statistics.ranks import rank_intervals
from scorer.statistics.raters import estimate_with_raters
from scorer.statistics.resamples import Resamples

pytestmark = pytest.mark.slow


def holds(found, truth):
    return np.mean([each.low <= truth <= each.high for each in found])


# Rates, and the share of simulated benchmarks whose interval should hold them. Near the ends a small sample of
# 0s and 1s cannot keep to 95 %: with 5 expected successes the share swings with n, as that of every such interval.
@pytest.mark.parametrize(
    ("n", "rate", "least", "most"),
    [
        (100, 0.05, 0.90, 0.985),
        (100, 0.3, 0.93, 0.97),
        (300, 0.6, 0.93, 0.97),
        (300, 0.95, 0.92, 0.97),
        (1000, 0.05, 0.93, 0.97),
        (1000, 0.6, 0.935, 0.965),
        (3610, 0.6, 0.935, 0.965),
    ],
)
def test_rates(n, rate, least, most):
    rng = np.random.default_rng(n)
    values = (rng.random((n, 3_000)) < rate).astype(float)
    share = holds(intervals(values, Resamples.draw(n, 2_999, 0)), rate)
    print(f"rate {rate} n {n}: {share:.3f}")
    assert least <= share <= most


@pytest.mark.parametrize("n", [100, 1000])
def test_token_f1(n):
    """Values as F1 has them: mostly 0 or 1, some between."""
    levels, odds = np.array([0, 1, 2 / 3, 0.5, 0.4]), np.array([0.4, 0.3, 0.15, 0.1, 0.05])
    values = np.random.default_rng(n).choice(levels, p=odds, size=(n, 3_000))
    share = holds(intervals(values, Resamples.draw(n, 2_999, 0)), levels @ odds)
    print(f"f1 n {n}: {share:.3f}")
    assert 0.93 <= share <= 0.97


@pytest.mark.parametrize(("n", "gap"), [(300, 0.0), (1000, 0.05)])
def test_paired_differences(n, gap):
    rng = np.random.default_rng(n)
    resamples = Resamples.draw(n, 1_999, 0)
    found = []
    for _ in range(1_500):
        hard = rng.random(n)
        first = (0.6 * hard + 0.4 * rng.random(n) < 0.5).astype(float)
        second = np.where(rng.random(n) < gap, 0.0, (0.6 * hard + 0.4 * rng.random(n) < 0.5).astype(float))
        found.append(compare(first, second, resamples).interval)
    truth = 0.5 * gap
    print(f"difference n {n}: {holds(found, truth):.3f}")
    assert 0.93 <= holds(found, truth) <= 0.97


def test_rater_noise():
    """Questions differ in how often a rater says yes; the truth is the share that a fresh panel of 5 approves."""
    n, resamples = 300, Resamples.draw(300, 1_999, 0)
    rng = np.random.default_rng(5)
    grid = (np.arange(100_000) + 0.5) / 100_000
    from scipy.stats import beta

    truth = binom.sf(2, 5, beta.ppf(grid, 2, 1)).mean()
    found, plain = [], []
    for _ in range(1_000):
        positive = rng.binomial(5, rng.beta(2, 1, n))
        found.append(estimate_with_raters(positive, np.full(n, 5), resamples).interval)
        plain.append((2 * positive > 5).astype(float))
    share, alone = holds(found, truth), holds(intervals(np.column_stack(plain), resamples), truth)
    print(f"questions and raters: {share:.3f}; questions only: {alone:.3f}")
    assert 0.93 <= alone <= 0.97
    # Raters are noise in the labels already; drawing them once more can only widen the interval.
    assert alone <= share <= 0.995


def test_pearson_over_questions():
    """Systems with known rates; the truth is Pearson r of those rates."""
    n, k = 1_000, 12
    rng = np.random.default_rng(6)
    quality = np.linspace(0.25, 0.7, k)
    other = np.clip(quality + 0.06 * norm.ppf((rng.permutation(k) + 0.5) / k), 0.05, 0.95)
    truth = np.corrcoef(quality, other)[0, 1]
    resamples, rated = Resamples.draw(n, 999, 0), np.arange(n) < 400
    found = []
    for _ in range(400):
        hard = norm.cdf(rng.standard_normal((n, 1)) * 0.7 + rng.standard_normal((n, k)) * np.sqrt(0.51))
        harder = norm.cdf(0.6 * norm.ppf(hard) + 0.8 * rng.standard_normal((n, k)))
        values = (hard < quality).astype(float), (harder < other).astype(float)
        found.append(correlate(*values, rated, ["RTR"] * k, resamples).fit.pearson.over_questions)
    share = holds(found, truth)
    print(f"pearson over questions, true r {truth:.3f}: {share:.3f}")
    assert share >= 0.90


def test_ranks_and_the_family_of_tests():
    """With four systems of equal quality, Holm keeps the chance of any false difference at or under 5 %."""
    n, rng = 300, np.random.default_rng(7)
    quality = np.array([0.3, 0.5, 0.5, 0.5, 0.5, 0.7])
    best = np.array([1 + np.sum(quality > each) for each in quality])
    worst = np.array([np.sum(quality >= each) for each in quality])
    wrong = false = 0
    for _ in range(2_000):
        hard = norm.cdf(np.sqrt(0.5) * (rng.standard_normal((n, 1)) + rng.standard_normal((n, 6))))
        ranks = rank_intervals((hard < quality).astype(float))
        wrong += any(r.best > low or r.worst < high for r, low, high in zip(ranks, worst, best, strict=True))
        false += any(r.best > low or r.worst < high for r, low, high in zip(ranks, best, worst, strict=True))
    print(f"a rank interval misses a place that is open: {false / 2_000:.3f}; misses every place: {wrong / 2_000:.3f}")
    assert false / 2_000 <= 0.06
    assert wrong <= false


def test_paired_tests_keep_their_level():
    rng, resamples = np.random.default_rng(8), Resamples.draw(200, 2, 0)
    hard = norm.cdf(np.sqrt(0.5) * (rng.standard_normal((200, 1_500, 1)) + rng.standard_normal((200, 1_500, 2))))
    found = [all_pairs((hard[:, at] < 0.5).astype(float), resamples)[0] for at in range(1_500)]
    t, exact = np.mean([each.p <= 0.05 for each in found]), np.mean([each.mcnemar.p <= 0.05 for each in found])
    print(f"false alarms at 5 %: paired t {t:.3f}, exact McNemar {exact:.3f}")
    assert 0.035 <= t <= 0.065
    assert exact <= 0.055
