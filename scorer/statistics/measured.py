"""A statistic that is not a mean, with its interval from its values in every resample; some may be undefined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.records import Interval
from scorer.statistics.bca import acceleration, ends
from scorer.statistics.intervals import NONE
from scorer.statistics.resamples import Floats

ALIKE = "every resample gives the same value"
FEW = "fewer than two resamples define it"


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

    NaN in either marks what is undefined. The value and the resamples must come from the same arithmetic, so that
    ties are seen as ties.
    """
    defined = drawn[np.isfinite(drawn)]
    lost = len(drawn) - len(defined)
    if len(defined) < 2:
        return Measured(value, n, NONE, lost, FEW)
    if defined.min() == defined.max():
        return Measured(value, n, NONE, lost, ALIKE)
    usable = jackknife[np.isfinite(jackknife)]
    deviations = usable.mean() - usable if len(usable) else np.zeros(1)
    found = ends(defined[:, None], np.array([value]), acceleration(deviations[:, None]), confidence)
    method = "bca" if found.corrected[0] else "percentile"
    return Measured(value, n, Interval(float(found.low[0]), float(found.high[0]), float(found.se[0]), method), lost)
