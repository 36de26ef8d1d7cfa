"""Does the judge's p mean what it says? Shares of attributable answers by p, on the rated questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.records import Interval
from leaderboard.recipes import resampling
from scorer.judges.calibrated.gain import calibration_error
from scorer.scoring import Values
from scorer.statistics.intervals import wilson
from scorer.statistics.measured import Measured
from scorer.statistics.resamples import ResampleStore

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """The rated answers with p from `low` to `high`: how many, their mean p, and how many are attributable."""

    low: float
    high: float
    n: int
    mean_p: float
    share: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Calibration:
    """Bins that hold answers; `error` is the mean distance of share and mean p, weighted by n (ECE)."""

    bins: tuple[Bin, ...]
    n: int
    error: Measured | None
    reason: str | None = None


def calibrate(p: Values, ais: Values, store: ResampleStore, recipe: str) -> Calibration:
    """Compare p with labels where both are known; ten bins of equal width, the last one closed.

    The error's interval resamples questions as the recipe says.
    """
    known = np.isfinite(p) & np.isfinite(ais)
    if not known.any():
        return Calibration((), 0, None, "No judged answer of this system has been rated.")
    chances, labels = p[known], ais[known]
    places = np.minimum((chances * BINS).astype(int), BINS - 1)
    bins = []
    for place in range(BINS):
        inside = places == place
        n = int(inside.sum())
        if n:
            positive = int(labels[inside].sum())
            ends = Interval(*wilson(positive, n), None, "wilson")
            mean = float(chances[inside].mean())
            bins.append(Bin(place / BINS, (place + 1) / BINS, n, mean, positive / n, ends))
    drawn = store.get(len(chances), *resampling(recipe))
    return Calibration(tuple(bins), len(chances), calibration_error(chances, labels, drawn))
