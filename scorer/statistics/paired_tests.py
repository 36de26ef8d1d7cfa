"""Paired tests of many pairs of systems at once: paired t, exact McNemar, Holm's correction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorer.statistics.resamples import Floats

Indices = NDArray[np.intp]

# Differences of rates that agree to this many binary places are one difference, not two.
_PLACES = 40
_PAIRS_AT_ONCE = 256
# A variance of differences below this share of the two systems' own, or below its fourth power where values are of
# size 1, has lost the digits that p needs; such pairs are taken question by question.
_KEEPS_DIGITS = 1e-4


class TTests(NamedTuple):
    """Per pair: t (NaN where the differences do not vary), p, and whether the differences are all the same."""

    t: Floats
    p: Floats
    constant: NDArray[np.bool_]


class McNemarTests(NamedTuple):
    """Per pair: questions that only the first, and only the second, has right; exact two-sided p."""

    first_only: NDArray[np.int64]
    second_only: NDArray[np.int64]
    p: Floats


def all_pairs_of(count: int) -> tuple[Indices, Indices]:
    """Indices (first, second) of every unordered pair of `count` systems."""
    first, second = np.triu_indices(count, 1)
    return first, second


def differences(values: Floats, first: Indices, second: Indices) -> Floats:
    """Differences (n, pairs) of columns; equal up to a rounding error means equal."""
    return np.asarray(np.rint((values[:, first] - values[:, second]) * 2.0**_PLACES) / 2.0**_PLACES)


def paired_t(values: Floats, first: Indices, second: Indices) -> TTests:
    """Paired two-sided t of columns of finite values (n, systems), n at least 1 (AQA section 5.3).

    Where every question has the same difference, t is undefined. p is then 1 if that difference is 0, else that
    of the exact sign-flip test, 2**(1 - n): of the 2**n ways to swap the two systems only two are as extreme.
    """
    from scipy.stats import ttest_1samp

    # One matrix product serves all pairs: a board of hundreds of systems has tens of thousands.
    if np.isin(values, (0, 1)).all():
        return _paired_t_of_binary(values, first, second)
    t, p = np.full(len(first), np.nan), np.ones(len(first))
    constant = np.zeros(len(first), dtype=bool)
    for start in range(0, len(first), _PAIRS_AT_ONCE):
        part = slice(start, start + _PAIRS_AT_ONCE)
        block = differences(values, first[part], second[part])
        same = block.min(axis=0) == block.max(axis=0)
        constant[part] = same
        p[part][same & (block[0] != 0)] = min(1.0, 2.0 ** (1 - len(values)))
        if not same.all():
            found = ttest_1samp(block[:, ~same], 0.0, axis=0)
            t[part][~same], p[part][~same] = found.statistic, found.pvalue
    return TTests(t, p, constant)


def paired_t_of_many(values: Floats, first: Indices, second: Indices) -> TTests:
    """`paired_t` for thousands of pairs: from one matrix of covariances, equal to it but for the last digits.

    The last digits depend on the other columns, so it serves decisions (ranks), not published numbers.
    """
    t, p, close = _by_covariance(values, first, second)
    constant = np.zeros(len(first), dtype=bool)
    if close.any():
        found = paired_t(values, first[close], second[close])
        t[close], p[close], constant[close] = found
    return TTests(t, p, constant)


def _by_covariance(values: Floats, first: Indices, second: Indices) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """t and p of all pairs from one matrix of covariances, and where too few digits are left to trust them."""
    from scipy.special import stdtr

    n = len(values)
    means = values.mean(axis=0)
    centred = values - means
    sums = centred.T @ centred
    own = np.diag(sums)
    spread = own[first] + own[second] - 2 * sums[first, second]
    floor = _KEEPS_DIGITS**4 * n * max(float(np.abs(values).max(initial=0.0)), 1.0) ** 2
    close = (spread <= _KEEPS_DIGITS * (own[first] + own[second])) | (spread <= floor) | (n < 2)
    se = np.sqrt(np.where(close, 1.0, spread) / max(n - 1, 1) / n)
    t = (means[first] - means[second]) / se
    return t, np.asarray(2 * stdtr(max(n - 1, 1), -np.abs(t))), close


def _paired_t_of_binary(values: Floats, first: Indices, second: Indices) -> TTests:
    """The same from counts alone, exact in whole numbers: one matrix product serves every pair."""
    from scipy.special import stdtr

    n, right = len(values), values.sum(axis=0)
    both = (values.T @ values)[first, second]
    total, squares = right[first] - right[second], right[first] + right[second] - 2 * both
    constant = (squares == 0) | (np.abs(total) == n)
    spread = np.where(constant, 1.0, n * squares - total**2) / max(n - 1, 1)
    t = np.where(constant, np.nan, total / np.sqrt(spread))
    alike = np.where(total == 0, 1.0, min(1.0, 2.0 ** (1 - n)))
    return TTests(t, np.where(constant, alike, 2 * stdtr(max(n - 1, 1), -np.abs(t))), constant)


def mcnemar(values: Floats, first: Indices, second: Indices) -> McNemarTests:
    """Exact McNemar test of columns of 0 and 1 (n, systems): p is 1 where no question tells them apart."""
    from scipy.stats import binom

    # Counts below 2**24 are exact in float32.
    small = values.astype(np.float32)
    both = (small.T @ small).astype(np.float64)
    right = values.sum(axis=0)
    first_only = (right[first] - both[first, second]).astype(np.int64)
    second_only = (right[second] - both[first, second]).astype(np.int64)
    discordant = first_only + second_only
    p = np.minimum(1.0, 2 * binom.cdf(np.minimum(first_only, second_only), discordant, 0.5))
    return McNemarTests(first_only, second_only, np.where(discordant == 0, 1.0, p))


def holm(p: Floats) -> Floats:
    """p values corrected by Holm's step-down method; of no p values, none.

    Holm 1979: the i-th smallest of m is multiplied by m - i + 1 and raised to the one before it. By hand, because
    the statsmodels function of that name runs a full garbage collection at every call.
    """
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted
