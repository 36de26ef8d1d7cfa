"""AIS of the population by prediction-powered inference: AutoAIS everywhere, corrected by the rated part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from core.records import Interval
from scorer.statistics.extras import require
from scorer.statistics.intervals import NONE
from scorer.statistics.resamples import Floats

MINIMUM_RATED = 100
MINIMUM_PER_CLASS = 10
_ALPHA = 0.05

Sample = Literal["complete", "sheet", "cache"]


@dataclass(frozen=True, slots=True)
class PPI:
    """The PPI estimate and the plain one of the same ratings, each with its normal interval; None with `reason`."""

    value: float | None
    interval: Interval
    plain: float | None
    plain_interval: Interval
    rated: int
    unrated: int
    reason: str | None = None

    def scaled(self, share: float) -> PPI:
        """The estimate over a population of which only this share can be attributable at all."""

        def times(number: float | None) -> float | None:
            return None if number is None else number * share

        def narrowed(ends: Interval) -> Interval:
            return Interval(times(ends.low), times(ends.high), times(ends.se), ends.method)

        return PPI(
            times(self.value), narrowed(self.interval), times(self.plain), narrowed(self.plain_interval),
            self.rated, self.unrated, self.reason,
        )  # fmt: skip


def ppi(
    labels: ArrayLike,
    judged_rated: ArrayLike,
    judged_unrated: ArrayLike,
    sample: Sample,
    probabilities: ArrayLike | None = None,
) -> PPI:
    """PPI mean (Angelopoulos et al. 2023, by `ppi-python`, alpha 0.05, power tuned) of 0/1 labels (n,).

    `judged_rated` (n,) and `judged_unrated` (N,) are the judge's scores of the rated and the other questions.
    `sample` says where the ratings come from: the complete rated subset, a sheet with the sampling probability
    of each rated question in `probabilities` (n,), or the label cache, which is no random sample. Where the
    probabilities differ, ratings are weighted by their inverse and the judge's mean is taken over all questions.
    Raises ValueError for shapes that do not fit and probabilities outside (0, 1].
    """
    truth, near, far = (np.asarray(each, dtype=np.float64) for each in (labels, judged_rated, judged_unrated))
    if truth.shape != near.shape or truth.ndim != 1 or far.ndim != 1:
        raise ValueError(f"labels {truth.shape} and scores {near.shape}, {far.shape} do not fit")
    reason = _undefined(truth, near, far, sample)
    if reason is not None:
        return PPI(None, NONE, None, NONE, len(truth), len(far), reason)
    weights = _weights(truth, sample, probabilities)
    if np.ptp(weights) > 0:
        far = np.concatenate([near, far])
    value, interval, plain, plain_interval = _estimates(truth, near, far, weights)
    return PPI(value, interval, plain, plain_interval, len(truth), len(far))


def _undefined(truth: Floats, near: Floats, far: Floats, sample: Sample) -> str | None:
    if sample == "cache":
        return "cached labels are not a random sample of the questions"
    if not all(np.isfinite(each).all() for each in (truth, near, far)):
        return "a label or a judge's score is not a finite number"
    if not np.isin(truth, (0, 1)).all():
        return "labels must be attributable or not"
    if len(truth) < MINIMUM_RATED:
        return f"{len(truth)} rated questions; {MINIMUM_RATED} are needed"
    fewest = int(min(truth.sum(), len(truth) - truth.sum()))
    if fewest < MINIMUM_PER_CLASS:
        return f"{fewest} rated questions in the rarer class; {MINIMUM_PER_CLASS} are needed"
    if len(far) == 0:
        return "every question is rated, so there is nothing to infer"
    if np.ptp(np.concatenate([near, far])) == 0:
        return "the judge scores every question alike"
    return None


def _weights(truth: Floats, sample: Sample, probabilities: ArrayLike | None) -> Floats:
    """Inverse sampling probabilities, scaled to mean 1."""
    if sample == "complete":
        return np.ones(len(truth))
    chances = np.asarray(probabilities, dtype=np.float64)
    if chances.shape != truth.shape or not ((chances > 0) & (chances <= 1)).all():
        raise ValueError("a sheet needs the sampling probability, in (0, 1], of each rated question")
    inverse = 1 / chances
    return np.asarray(inverse / inverse.mean())


def _estimates(truth: Floats, near: Floats, far: Floats, weights: Floats) -> tuple[float, Interval, float, Interval]:
    library, baselines = require("ppi_py"), require("ppi_py.baselines")
    # The estimate moves with the data, but the library's variance of weighted values is right only about 0.
    centre, shift = float(np.average(truth, weights=weights)), float(np.average(near, weights=weights))
    sample = (truth - centre, near - shift, far - shift)
    value = float(np.squeeze(library.ppi_mean_pointestimate(*sample, lam=None, w=weights))) + centre
    ends = library.ppi_mean_ci(*sample, alpha=_ALPHA, lam=None, w=weights)
    plain_ends = baselines.classical_mean_ci(truth - centre, w=weights, alpha=_ALPHA)
    return value, _interval(ends, centre, "ppi"), centre, _interval(plain_ends, centre, "normal")


def _interval(ends: tuple[Floats, Floats], centre: float, method: str) -> Interval:
    from scipy.special import ndtri

    low, high = (float(np.squeeze(end)) + centre for end in ends)
    se = (high - low) / (2 * float(ndtri(1 - _ALPHA / 2)))
    return Interval(max(low, 0.0), min(high, 1.0), se, method)
