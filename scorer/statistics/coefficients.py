"""Pearson, Spearman and Kendall tau-b of many pairs of short series at once, row by row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from scorer.statistics.resamples import Floats

# Rows counted at once: enough for few passes, and what is counted stays in the processor's cache.
_ROWS_AT_ONCE = 1_000
_IN_A_BYTE = 255


def pearson(x: Floats, y: Floats) -> Floats:
    """Pearson r of the rows of x and y (rows, k) to (rows,); NaN where a row is constant or holds NaN."""
    constant = (x.min(axis=1) == x.max(axis=1)) | (y.min(axis=1) == y.max(axis=1))
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (x * y).sum(axis=1) / np.sqrt(np.square(x).sum(axis=1) * np.square(y).sum(axis=1))
    return np.where(constant, np.nan, np.clip(r, -1, 1))


def spearman(x: Floats, y: Floats) -> Floats:
    """Spearman rho of the rows, ties at their mean rank; NaN as for `pearson`."""
    from scipy.stats import rankdata

    # SciPy gives a row that holds NaN the rank NaN throughout.
    return pearson(rankdata(x, axis=1), rankdata(y, axis=1))


def kendall(x: Floats, y: Floats) -> Floats:
    """Kendall tau-b of the rows; NaN as for `pearson`.

    Kendall 1945: concordant less discordant pairs over the geometric mean of the numbers of pairs not tied in x
    and in y. Counted in all rows at once because SciPy's takes one row at a time.
    """
    found = np.empty(len(x))
    for start in range(0, len(x), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        found[part] = _kendall(x[part], y[part])
    return found


def _kendall(x: Floats, y: Floats) -> Floats:
    k = x.shape[1]
    (places_x, tied_x), (places_y, tied_y) = _places(x), _places(y)
    # By x, and by y where x is tied: a greater y before a smaller one is then a discordant pair.
    joint = np.sort(places_x * k + places_y, axis=1)
    tied_both = _tied(joint[:, 1:] == joint[:, :-1])
    discordant = _falls((joint % k).T)
    pairs = k * (k - 1) // 2
    untied = (pairs - tied_x) * (pairs - tied_y)
    surplus = pairs - tied_x - tied_y + tied_both - 2 * discordant
    defined = (untied > 0) & ~(np.isnan(x) | np.isnan(y)).any(axis=1)
    return np.where(defined, np.clip(surplus / np.sqrt(np.where(untied > 0, untied, 1)), -1, 1), np.nan)


def _places(values: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each value's place in its sorted row, that of the first among equals; and how many pairs of a row are tied."""
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    again = ordered[:, 1:] == ordered[:, :-1]
    places = np.empty(values.shape, dtype=np.int64)
    np.put_along_axis(places, order, _first(again), axis=1)
    return places, _tied(again)


def _first(again: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each place of sorted rows (rows, k) the first one with its value; `again` (rows, k - 1) marks repetitions."""
    found = np.zeros((len(again), again.shape[1] + 1), dtype=np.int64)
    found[:, 1:] = np.where(again, 0, np.arange(1, found.shape[1]))
    return np.maximum.accumulate(found, axis=1)


def _tied(again: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many pairs of equal values sorted rows have."""
    first = _first(again)
    return np.asarray((np.arange(first.shape[1]) - first).sum(axis=1))


def _falls(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many pairs of each column (k, rows) fall: a greater place above a smaller one."""
    k = len(places)
    narrow = places.astype(np.int16 if k <= np.iinfo(np.int16).max else np.int64, order="C")
    total, falls = np.zeros(places.shape[1], dtype=np.int64), np.zeros(places.shape, dtype=np.uint8)
    for at in range(1, k):
        # One row of bytes per row of the series is added up fastest; before it could overflow it is taken down.
        falls[at:] += (narrow[at - 1] > narrow[at:]).view(np.uint8)
        if at % _IN_A_BYTE == 0 or at == k - 1:
            total += falls.sum(axis=0, dtype=np.int64)
            falls[:] = 0
    return total


COEFFICIENTS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
}
