"""Intervals of means over questions: BCa, falling to percentile, and Wilson for 0 or n successes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.records import Interval
from scorer.statistics.bca import acceleration, ends
from scorer.statistics.resamples import Floats, Resamples

NONE = Interval(None, None, None, "none")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its n and interval; where the value or the ends are None, `reason` says why."""

    value: float | None
    n: int
    interval: Interval
    reason: str | None = None


def wilson(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson score interval of a proportion (by SciPy); n at least 1."""
    from scipy.stats import binomtest

    found = binomtest(successes, n).proportion_ci(confidence, method="wilson")
    return float(found.low), float(found.high)


def estimate(values: ArrayLike, resamples: Resamples, confidence: float = 0.95) -> Estimate:
    """Mean of the values (n,) with its interval, or None with the reason; never NaN."""
    return estimates(np.asarray(values, dtype=np.float64)[:, None], resamples, confidence)[0]


def interval(values: ArrayLike, resamples: Resamples, confidence: float = 0.95) -> Interval:
    """The interval of `estimate`: method `bca`, `percentile`, `wilson`, or `none` with ends None."""
    return estimate(values, resamples, confidence).interval


def intervals(values: ArrayLike, resamples: Resamples, confidence: float = 0.95) -> tuple[Interval, ...]:
    """The intervals of `estimates`."""
    return tuple(each.interval for each in estimates(values, resamples, confidence))


def estimates(values: ArrayLike, resamples: Resamples, confidence: float = 0.95) -> tuple[Estimate, ...]:
    """Means of the columns (n, m) with intervals; each column comes out as if it stood alone.

    Raises ValueError where the number of rows is not that of the resamples. A column that holds NaN or an
    infinity has no value; a single question has a value but no interval unless it is a success or failure.
    """
    columns = np.asarray(values, dtype=np.float64)
    if columns.ndim != 2 or len(columns) != resamples.n:
        raise ValueError(f"values of shape {columns.shape} do not fit resamples of {resamples.n} questions")
    if resamples.n == 0:
        return tuple(Estimate(None, 0, NONE, "no questions") for _ in columns.T)
    varies = np.isfinite(columns).all(axis=0) & (columns.min(axis=0) < columns.max(axis=0))
    bootstrapped = iter(_bootstrap(columns[:, varies], resamples, confidence))
    exact = (_exact(column, confidence) for column in columns[:, ~varies].T)
    return tuple(next(bootstrapped) if each else next(exact) for each in varies)


def _exact(values: Floats, confidence: float) -> Estimate:
    """The cases that no bootstrap answers: not finite, equal values, one question."""
    n, first = len(values), float(values[0])
    se = 0.0 if n > 1 else None
    if not np.isfinite(values).all():
        return Estimate(None, n, NONE, "a value is not a finite number")
    if first in (0, 1):
        return Estimate(first, n, Interval(*wilson(n * int(first), n, confidence), se, "wilson"))
    if n == 1:
        return Estimate(first, n, NONE, "one question has no interval")
    return Estimate(first, n, Interval(first, first, se, "percentile"))


def _bootstrap(columns: Floats, resamples: Resamples, confidence: float) -> list[Estimate]:
    """Estimates for finite columns that vary."""
    if columns.shape[1] == 0:
        return []
    values = [math.fsum(column) / resamples.n for column in columns.T]
    accelerations = acceleration(columns - np.array(values))
    found = ends(resamples.means(columns), resamples.mean(columns), accelerations, confidence)
    return [
        Estimate(value, resamples.n, Interval(low, high, se, "bca" if corrected else "percentile"))
        for value, low, high, se, corrected in zip(values, *(part.tolist() for part in found), strict=True)
    ]
