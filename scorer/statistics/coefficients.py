"""Pearson, Spearman and Kendall tau-b of many pairs of short series at once, row by row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scorer.statistics.paired_tests import all_pairs_of
from scorer.statistics.resamples import Floats

_ROWS_AT_ONCE = 2_000
# All pairs of more systems than this cost more than SciPy's sort of one row at a time.
_PAIRS_PAY_UP_TO = 64


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
    and in y. Written out over all pairs because SciPy's takes one row at a time, which pays for long rows only.
    """
    if x.shape[1] > _PAIRS_PAY_UP_TO:
        from scipy.stats import kendalltau

        rows = zip(x, y, strict=True)
        return np.array([kendalltau(left, right, method="asymptotic").statistic for left, right in rows])
    first, second = all_pairs_of(x.shape[1])
    found = np.empty(len(x))
    for start in range(0, len(x), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        # float32 holds these small counts exactly and is summed fastest.
        sign_x = np.sign(x[part][:, first] - x[part][:, second]).astype(np.float32)
        sign_y = np.sign(y[part][:, first] - y[part][:, second]).astype(np.float32)
        untied = np.square(sign_x).sum(axis=1, dtype=np.float64) * np.square(sign_y).sum(axis=1, dtype=np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            found[part] = np.clip((sign_x * sign_y).sum(axis=1, dtype=np.float64) / np.sqrt(untied), -1, 1)
    return found


COEFFICIENTS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
}
