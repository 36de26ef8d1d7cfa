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
