"""A statistic that is not a mean, with its interval from its values in every resample; some may be undefined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.records import Interval
from scorer.statistics.bca import acceleration, ends
from scorer.statistics.intervals import NONE
from scorer.statistics.resamples import Floats

ALIKE = "every resample gives the same value"
OFTEN = "it is undefined in too many resamples"
BIASED = "nearly all resamples lie on one side of it"
# Values of a statistic nearer to each other than this are the same, summed in another order.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Measured:
    """A statistic of `n` pairs; `reason` says why the value or, where there is one, its interval is missing.

    Resamples in which it is undefined are left out of the interval and counted in `undefined`.
    """

    value: float | None
    n: int
    interval: Interval = NONE
    undefined: int = 0
    reason: str | None = None


def measured(value: float, n: int, drawn: Floats, jackknife: Floats, confidence: float = 0.95) -> Measured:
    """The value with BCa ends, percentile where BCa is undefined, from resamples (B,) and a jackknife (clusters,).

    NaN in either marks what is undefined. There is no interval, but the reason, where a larger share than
    1 - confidence is undefined, since what those would say could move either end anywhere; and where the value lies
    in a tail of the resamples, which then tell of the noise that resampling adds and not of other questions.
    """
    defined = _defined(value, drawn)
    lost = len(drawn) - len(defined)
    if len(defined) and defined.min() == defined.max():
        return Measured(value, n, NONE, lost, ALIKE)
    if len(defined) < 2 or lost > (1 - confidence) * len(drawn):
        return Measured(value, n, NONE, lost, OFTEN)
    below = (np.mean(defined < value) + np.mean(defined <= value)) / 2
    if min(below, 1 - below) < (1 - confidence) / 2:
        return Measured(value, n, NONE, lost, BIASED)
    usable = jackknife[np.isfinite(jackknife)]
    deviations = usable.mean() - usable if len(usable) else np.zeros(1)
    found = ends(defined[:, None], np.array([value]), acceleration(deviations[:, None]), confidence)
    method = "bca" if found.corrected[0] else "percentile"
    return Measured(value, n, Interval(float(found.low[0]), float(found.high[0]), float(found.se[0]), method), lost)


def _defined(value: float, drawn: Floats) -> Floats:
    """The resamples that define the statistic, those that only rounding tells from the value set to it.

    BCa counts how many resamples equal the value, and in a small benchmark these are many.
    """
    defined = drawn[np.isfinite(drawn)]
    return np.where(np.abs(defined - value) <= _ROUNDING, value, defined)
