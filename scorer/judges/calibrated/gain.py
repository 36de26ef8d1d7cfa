"""What calibration gained: proper scores of a judge's p before and after it, with intervals over questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.records import Interval
from scorer.judges.verdict import THRESHOLD
from scorer.statistics.intervals import NONE
from scorer.statistics.measured import Measured, measured
from scorer.statistics.resamples import Floats, Resamples
from scorer.statistics.roc import Series, auc, auc_drawn, auc_without

BINS = 10
CLIP = 0.001
"""p is moved into [CLIP, 1 - CLIP] for the log loss alone, which a single p of 0 or 1 could make infinite."""

_AT_ONCE = 256
"""Questions left out at once: bounds the memory."""

Statistic = Callable[[Floats], Floats]
"""Weights per question (B, questions) to the statistic (B,)."""

MEASURES: dict[str, tuple[str, bool]] = {
    "brier": ("Brier score", False),
    "log_loss": ("Log loss", False),
    "ece": ("Expected calibration error", False),
    "accuracy": ("Accuracy at 0.5", True),
    "auc": ("AUC", True),
}
"""Key → title, and whether more is better."""


@dataclass(frozen=True, slots=True)
class Gain:
    """One measure before and after, each with its interval; `difference` is after less before, with a paired one.

    `reason` says why a part is None, or the difference has no interval.
    """

    measure: str
    raw: float | None
    calibrated: float | None
    difference: float | None
    interval: Interval
    reason: str | None = None
    raw_interval: Interval = NONE
    calibrated_interval: Interval = NONE


@dataclass(frozen=True, slots=True)
class _Side:
    """A measure of one series of p: its value, in every resample, and without each question in turn."""

    value: float
    drawn: Floats
    without: Floats


def gains(
    raw: Floats, calibrated: Floats, labels: Floats, groups: Sequence[str], resamples: Resamples
) -> list[Gain]:  # fmt: skip
    """Every measure of MEASURES on pairs (n,), resampled by question; `resamples` is over the different groups.

    Ends are BCa, percentile where it is undefined. Raises ValueError where the resamples do not fit the groups.
    """
    names = list(dict.fromkeys(groups))
    if len(names) != resamples.n or not names:
        raise ValueError(f"{len(names)} questions do not fit resamples of {resamples.n}")
    place = {name: at for at, name in enumerate(names)}
    of = np.array([place[group] for group in groups])
    makers: dict[str, Callable[[Floats], Statistic]] = {
        "brier": lambda p: _mean((p - labels) ** 2, of, len(names)),
        "log_loss": lambda p: _mean(_log_loss(p, labels), of, len(names)),
        "ece": lambda p: _ece(p, labels, of, len(names)),
        "accuracy": lambda p: _mean(((p >= THRESHOLD) == labels) * 1.0, of, len(names)),
    }
    found = [
        _gain(key, _side(make(raw), resamples), _side(make(calibrated), resamples), len(raw))
        for key, make in makers.items()
    ]
    return [*found, _auc_gain(Series(raw, labels, of), Series(calibrated, labels, of), resamples)]


def calibration_error(p: Floats, labels: Floats, resamples: Resamples) -> Measured:
    """ECE of p (n,) against labels (n,), one pair a question, with its interval."""
    side = _side(_ece(p, labels, np.arange(len(p)), len(p)), resamples)
    return measured(side.value, len(p), side.drawn, side.without)


def _auc_gain(raw: Series, calibrated: Series, resamples: Resamples) -> Gain:
    if raw.constant:
        return Gain("auc", None, None, None, NONE, "All labels are alike, so there is nothing to tell apart.")
    drawn = auc_drawn([raw, calibrated], resamples)
    before, after = (
        _Side(auc(each), drawn[:, at], auc_without(each, resamples.n)) for at, each in enumerate((raw, calibrated))
    )
    return _gain("auc", before, after, len(raw.of))


def _gain(key: str, before: _Side, after: _Side, n: int) -> Gain:
    difference = after.value - before.value
    if len(before.without) < 2:
        return Gain(key, before.value, after.value, difference, NONE, "One question has no interval.")
    first, second = (measured(each.value, n, each.drawn, each.without).interval for each in (before, after))
    change = measured(difference, n, after.drawn - before.drawn, after.without - before.without)
    reason = f"{change.reason.capitalize()}." if change.reason else None
    return Gain(key, before.value, after.value, difference, change.interval, reason, first, second)


def _side(statistic: Statistic, resamples: Resamples) -> _Side:
    drawn = np.concatenate([statistic(block.astype(np.float64)) for _, block in resamples.blocks()])
    without = []
    for start in range(0, resamples.n, _AT_ONCE):
        weights = np.ones((min(_AT_ONCE, resamples.n - start), resamples.n))
        weights[np.arange(len(weights)), np.arange(start, start + len(weights))] = 0
        without.append(statistic(weights))
    return _Side(float(statistic(np.ones((1, resamples.n)))[0]), drawn, np.concatenate(without))


def _mean(values: Floats, of: NDArray[np.intp], n: int) -> Statistic:
    sums, counts = np.bincount(of, values, n), np.bincount(of, minlength=n).astype(np.float64)
    return lambda weights: np.asarray((weights @ sums) / np.maximum(weights @ counts, 1))


def _log_loss(p: Floats, labels: Floats) -> Floats:
    inside = np.clip(p, CLIP, 1 - CLIP)
    return np.asarray(-(labels * np.log(inside) + (1 - labels) * np.log(1 - inside)))


def _ece(p: Floats, labels: Floats, of: NDArray[np.intp], n: int) -> Statistic:
    """Mean distance of labels and p over bins of equal width, weighted by pairs."""
    distances = np.zeros((n, BINS))
    np.add.at(distances, (of, np.minimum((p * BINS).astype(int), BINS - 1)), labels - p)
    counts = np.bincount(of, minlength=n).astype(np.float64)
    return lambda weights: np.asarray(np.abs(weights @ distances).sum(axis=1) / np.maximum(weights @ counts, 1))
