"""Pearson r of pairs that come in clusters, resampled by cluster: the answers to one question are not independent."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scorer.statistics.measured import Measured, measured
from scorer.statistics.resamples import Floats, Resamples

MINIMUM_PAIRS = 3
# A variance below this share of the whole one is a constant series and the rounding of its sums.
_CONSTANT = 1e-9


def pearson_clustered(x: ArrayLike, y: ArrayLike, of: ArrayLike, resamples: Resamples) -> Measured:
    """Pearson r of x and y (n,), with an interval from drawing the clusters `of` (n,) anew, each with all its pairs.

    None with a reason for fewer than three pairs or a constant series. Raises ValueError for values that are not
    finite and shapes or clusters that do not fit.
    """
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    place = np.asarray(of, dtype=np.intp)
    if first.ndim != 1 or not first.shape == second.shape == place.shape:
        raise ValueError(f"shapes {first.shape}, {second.shape} and {place.shape} do not fit")
    if len(place) and not 0 <= place.min() <= place.max() < resamples.n:
        raise ValueError(f"clusters do not fit resamples of {resamples.n}")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("values must be finite numbers")
    if len(first) < MINIMUM_PAIRS:
        return Measured(None, len(first), reason=f"{len(first)} pairs; {MINIMUM_PAIRS} are needed")
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return Measured(None, len(first), reason="one of the two numbers is the same everywhere")
    # About their means, so that sums of squares keep their digits; r is the same.
    a, b = first - first.mean(), second - second.mean()
    terms = (np.ones_like(a), a, b, a * a, b * b, a * b)
    sums = np.stack([np.bincount(place, each, resamples.n) for each in terms], axis=1)
    whole = resamples.total(sums)
    floor = _CONSTANT * whole[3:5] / len(a)
    drawn = _pearson(resamples.totals(sums), floor)
    return measured(float(_pearson(whole[None], floor)[0]), len(a), drawn, _pearson(whole - sums, floor))


def _pearson(sums: Floats, floor: Floats) -> Floats:
    """r from rows of (count, sum x, sum y, sum xx, sum yy, sum xy); NaN where a series is constant."""
    count = np.maximum(sums[:, 0], 1)
    x, y, xx, yy, xy = (sums[:, at] / count for at in range(1, 6))
    spread_x, spread_y = xx - x * x, yy - y * y
    varies = (sums[:, 0] > 1) & (spread_x > floor[0]) & (spread_y > floor[1])
    below = np.sqrt(np.where(varies, spread_x * spread_y, 1.0))
    return np.asarray(np.where(varies, np.clip((xy - x * y) / below, -1, 1), np.nan))
