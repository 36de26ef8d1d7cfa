"""Correlation of systems' AIS with another metric, as in AQA section 5.5, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.records import Interval
from scorer.statistics.coefficients import COEFFICIENTS
from scorer.statistics.intervals import NONE
from scorer.statistics.measured import measured
from scorer.statistics.resamples import Resamples
from scorer.statistics.system_scores import SystemScores, system_scores

MINIMUM_SYSTEMS = 3


@dataclass(frozen=True, slots=True)
class Correlation:
    """One coefficient over `systems`; `value` is None exactly when `reason` says why.

    The intervals say how it would move with other questions and with other systems. Resamples in which it is
    undefined (a constant series, a system without a rated question) are left out and counted. Where an interval is
    missing beside a value, its own reason says why.
    """

    value: float | None
    systems: int
    over_questions: Interval = NONE
    over_systems: Interval = NONE
    undefined_over_questions: int = 0
    undefined_over_systems: int = 0
    reason: str | None = None
    reason_over_questions: str | None = None
    reason_over_systems: str | None = None


@dataclass(frozen=True, slots=True)
class Correlations:
    """Pearson r (as AQA), Spearman rho and Kendall tau-b between two series of system scores."""

    pearson: Correlation
    spearman: Correlation
    kendall: Correlation


@dataclass(frozen=True, slots=True)
class SystemCorrelations:
    """The fit without the systems left out, the same with every system, and without one architecture at a time.

    `left_out` are the columns of systems that are drawn but not in the fit. In `without_architecture` only Pearson's
    has intervals: the others take most of the time.
    """

    fit: Correlations
    everyone: Correlations
    left_out: tuple[int, ...]
    without_architecture: dict[str, Correlations]


def correlate(
    ais: ArrayLike,
    other: ArrayLike,
    rated: ArrayLike,
    architectures: Sequence[str],
    resamples: Resamples,
    leave_out: Sequence[bool] | None = None,
    confidence: float = 0.95,
) -> SystemCorrelations:
    """Correlate systems' AIS with another metric; columns are systems, rows the questions of the benchmark.

    `ais` (n, k) counts where `rated`, (n,) or (n, k), is true; `other` (n, k) counts on all questions, as each is
    published. `resamples` are of all n questions and serve both: in each, AIS is the mean over the rated
    questions drawn, so the two move together. `leave_out` marks systems that use AutoAIS inside (pass it for
    AutoAIS only). Raises ValueError for shapes that do not fit and values that are not finite.
    """
    scores = system_scores(ais, other, rated, resamples)
    if len(architectures) != scores.count or (leave_out is not None and len(leave_out) != scores.count):
        raise ValueError("architectures and systems left out must be as many as the systems")
    out = np.zeros(scores.count, dtype=bool) if leave_out is None else np.asarray(leave_out, dtype=bool)
    names = np.asarray(architectures, dtype=object)
    fit = _correlations(scores, ~out, confidence)
    return SystemCorrelations(
        fit=fit,
        everyone=_correlations(scores, np.ones_like(out), confidence) if out.any() else fit,
        left_out=tuple(np.flatnonzero(out).tolist()),
        without_architecture={
            name: _correlations(scores, ~out & (names != name), confidence, ("pearson",))
            for name in dict.fromkeys(names[~out].tolist())
        },
    )


def _correlations(
    scores: SystemScores, chosen: NDArray[np.bool_], confidence: float, names: Sequence[str] = tuple(COEFFICIENTS)
) -> Correlations:
    """Coefficients, those of the names with intervals."""
    points = _points(scores, chosen)
    if points.pearson.reason is not None:
        return points
    part = scores.of(chosen)
    drawn = _systems_drawn(part.count, scores.resamples)
    left = np.array([np.delete(np.arange(part.count), at) for at in range(part.count)])
    found = {}
    for name in names:
        coefficient = COEFFICIENTS[name]
        value = coefficient(part.ais[None], part.other[None])[0]
        questions = coefficient(part.ais_drawn, part.other_drawn)
        jackknife = coefficient(part.ais_without, part.other_without)
        over_questions = measured(value, part.count, questions, jackknife, confidence)
        systems = coefficient(part.ais[drawn], part.other[drawn])
        jackknife = coefficient(part.ais[left], part.other[left])
        over_systems = measured(value, part.count, systems, jackknife, confidence)
        found[name] = Correlation(
            float(value), part.count, over_questions.interval, over_systems.interval, over_questions.undefined,
            over_systems.undefined, None, over_questions.reason, over_systems.reason,
        )  # fmt: skip
    return replace(points, **found)


def _points(scores: SystemScores, chosen: NDArray[np.bool_]) -> Correlations:
    """Coefficients without intervals, or the reason why there are none."""
    ais, other = scores.ais[chosen], scores.other[chosen]
    count = len(ais)
    reason = None
    if count < MINIMUM_SYSTEMS:
        reason = f"{count} systems; {MINIMUM_SYSTEMS} are needed"
    elif np.isnan(ais).any():
        reason = "a system has no rated question"
    elif np.ptp(ais) == 0:
        reason = "AIS is the same for every system"
    elif np.ptp(other) == 0:
        reason = "the other metric is the same for every system"
    if reason is not None:
        return Correlations(*[Correlation(None, count, reason=reason)] * len(COEFFICIENTS))
    values = {name: float(each(ais[None], other[None])[0]) for name, each in COEFFICIENTS.items()}
    return Correlations(**{name: Correlation(value, count) for name, value in values.items()})


def _systems_drawn(count: int, resamples: Resamples) -> NDArray[np.intp]:
    """Indices of systems drawn with replacement, (resamples, count)."""
    counts = np.concatenate([block for _, block in Resamples.draw(count, resamples.count, resamples.seed).blocks()])
    return np.repeat(np.tile(np.arange(count), len(counts)), counts.ravel()).reshape(-1, count)
