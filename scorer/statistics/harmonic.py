"""Harmonic means of two system means (F1_AP, RARR §2.3): intervals, comparisons and values that rank like means."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from core.records import Interval
from scorer.statistics.bca import acceleration, ends
from scorer.statistics.comparisons import Comparison, compare
from scorer.statistics.intervals import NONE, Estimate
from scorer.statistics.resamples import Floats, Resamples


def harmonic(first: float, second: float) -> float:
    """2ab / (a + b) of two numbers that are not negative; 0 where both are 0."""
    return 2 * first * second / (first + second) if first + second else 0.0


def estimate_harmonic(pairs: ArrayLike, resamples: Resamples, confidence: float = 0.95) -> Estimate:
    """Harmonic mean of the two column means of (n, 2), with an interval from resampling both columns together."""
    columns = _columns(pairs, resamples)
    n = len(columns)
    if n == 0:
        return Estimate(None, 0, NONE, "no questions")
    value = _of(columns)
    if n == 1:
        return Estimate(value, n, NONE, "one question has no interval")
    drawn = _rows(resamples.means(columns))
    if drawn.min() == drawn.max():
        if value in (0, 1):
            return Estimate(value, n, NONE, "every resample gives the same value")
        return Estimate(value, n, Interval(value, value, 0.0, "percentile"))
    return Estimate(
        value, n, _interval(drawn, float(_rows(resamples.mean(columns)[None])[0]), _left_out(columns), confidence)
    )


def compare_harmonic(first: ArrayLike, second: ArrayLike, resamples: Resamples, confidence: float = 0.95) -> Comparison:
    """The first system's harmonic mean less the second's, each from (n, 2) on the same questions.

    The interval resamples all four columns together. t and p are the paired t test's on `linearised` values.
    """
    one, two = _columns(first, resamples), _columns(second, resamples)
    if resamples.n == 0:
        return Comparison(0, 1, 0, None, NONE, reason="no questions in common")
    tested = replace(compare(linearised(one), linearised(two), resamples, confidence), mcnemar=None)
    difference = _of(one) - _of(two)
    if (one == two).all() or resamples.n == 1:
        return replace(tested, difference=difference)
    drawn = _rows(resamples.means(one)) - _rows(resamples.means(two))
    if drawn.min() == drawn.max():
        return replace(tested, difference=difference, interval=NONE)
    exact = float((_rows(resamples.mean(one)[None]) - _rows(resamples.mean(two)[None]))[0])
    ends_of = _interval(drawn, exact, _left_out(one) - _left_out(two), confidence)
    return replace(tested, difference=difference, interval=ends_of)


def linearised(pairs: ArrayLike) -> Floats:
    """Values (n,) whose mean is the harmonic mean of the column means of (n, 2), by its tangent there (delta method).

    A mean's tests and ranks can be had from them as from any other metric's values.
    """
    columns = np.asarray(pairs, dtype=np.float64)
    a, b = (math.fsum(column) / len(columns) for column in columns.T)
    if a + b == 0:
        return np.zeros(len(columns))
    slopes = np.array([2 * b**2, 2 * a**2]) / (a + b) ** 2
    return np.asarray(harmonic(a, b) + (columns - np.array([a, b])) @ slopes)


def _columns(pairs: ArrayLike, resamples: Resamples) -> Floats:
    columns = np.asarray(pairs, dtype=np.float64).reshape(-1, 2)
    if len(columns) != resamples.n or not np.isfinite(columns).all():
        raise ValueError(f"pairs of shape {columns.shape} do not fit resamples of {resamples.n} questions")
    return columns


def _of(columns: Floats) -> float:
    return harmonic(*(math.fsum(column) / len(columns) for column in columns.T))


def _rows(means: Floats) -> Floats:
    total = means.sum(axis=1)
    return np.asarray(np.where(total > 0, 2 * means.prod(axis=1) / np.where(total > 0, total, 1), 0.0))


def _left_out(columns: Floats) -> Floats:
    """The harmonic mean without each question in turn."""
    return _rows(np.maximum(columns.sum(axis=0) - columns, 0) / (len(columns) - 1))


def _interval(drawn: Floats, value: float, jackknife: Floats, confidence: float) -> Interval:
    deviations = (jackknife.mean() - jackknife)[:, None]
    found = ends(drawn[:, None], np.array([value]), acceleration(deviations), confidence)
    method = "bca" if found.corrected[0] else "percentile"
    return Interval(float(found.low[0]), float(found.high[0]), float(found.se[0]), method)
