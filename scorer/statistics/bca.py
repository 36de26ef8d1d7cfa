"""Ends of bootstrap intervals from a bootstrap distribution: BCa, or percentile where BCa is undefined."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorer.statistics.resamples import Floats


class Ends(NamedTuple):
    """Interval ends, standard errors, and which columns could be corrected (BCa); each of shape (m,)."""

    low: Floats
    high: Floats
    se: Floats
    corrected: NDArray[np.bool_]


def acceleration(influence: Floats) -> Floats:
    """Acceleration a of BCa from deviations (n, m) of jackknife values; 0 where they do not vary.

    Efron and Tibshirani 1993, equation 14.15. For a mean the deviations may be the values less
    their mean: the scale cancels.
    """
    # Sums along contiguous rows: a column must come out alike whatever stands beside it.
    rows = np.ascontiguousarray(influence.T)
    square = np.square(rows)
    squares = square.sum(axis=1)
    cubes = (square * rows).sum(axis=1)
    varies = squares > 0
    return np.asarray(np.where(varies, cubes / (6 * np.where(varies, squares, 1) ** 1.5), 0.0))


def ends(distribution: Floats, estimates: Floats, accelerations: Floats, confidence: float = 0.95) -> Ends:
    """Two-sided ends for the columns of a bootstrap distribution (B, m), without NaN; B at least 2.

    Efron and Tibshirani 1993, equations 14.9 to 14.14; resamples equal to the estimate count half in the bias
    correction, and the ends are linearly interpolated quantiles, as in `scipy.stats.bootstrap`.
    """
    from scipy.special import ndtr, ndtri

    rows = np.array(distribution.T, order="C")
    rows.sort(axis=1)
    tail = (1 - confidence) / 2
    below = (np.sum(rows < estimates[:, None], axis=1) + np.sum(rows <= estimates[:, None], axis=1)) / 2
    bias = ndtri(below / rows.shape[1])
    one_sided = ~np.isfinite(bias)
    bias[one_sided] = 0
    z = ndtri(np.array([tail, 1 - tail]))[:, None] + bias
    divisor = 1 - accelerations * z
    # A divisor at or below 0 would turn the order of the quantiles round.
    corrected = ~one_sided & (divisor > 0).all(axis=0)
    safe = np.where(corrected, divisor, 1)
    levels = np.where(corrected, ndtr(bias + z / safe), np.array([[tail], [1 - tail]]))
    low, high = _quantiles(rows, levels[0]), _quantiles(rows, levels[1])
    return Ends(low, high, rows.std(axis=1, ddof=1), corrected)


def _quantiles(rows: Floats, levels: Floats) -> Floats:
    """Linearly interpolated quantile of each sorted row at its own level."""
    places = levels * (rows.shape[1] - 1)
    left = np.floor(places).astype(np.intp)
    right = np.minimum(left + 1, rows.shape[1] - 1)
    at = np.arange(len(rows))
    return np.asarray(rows[at, left] + (places - left) * (rows[at, right] - rows[at, left]))
