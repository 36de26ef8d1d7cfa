"""What calibration gained: proper scores of a judge's p before and after it, with intervals over questions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.records import Interval
from scorer.judges.verdict import THRESHOLD
from scorer.statistics.bca import acceleration, ends
from scorer.statistics.intervals import NONE
from scorer.statistics.resamples import Floats, Resamples

BINS = 10
CLIP = 0.001
"""p is moved into [CLIP, 1 - CLIP] for the log loss alone, which a single p of 0 or 1 could make infinite."""

_AT_ONCE = 256
"""Resamples whose weights are spread over the pairs together: bounds the memory."""

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
    """One measure before and after; `difference` is after less before with its interval, None with a reason."""

    measure: str
    raw: float | None
    calibrated: float | None
    difference: float | None
    interval: Interval
    reason: str | None = None


def gains(
    raw: Floats,
    calibrated: Floats,
    labels: Floats,
    groups: Sequence[str],
    resamples: Resamples,
    bare: Collection[str] = (),
) -> list[Gain]:
    """Every measure of MEASURES on pairs (n,), resampled by question; `resamples` is over the different groups.

    Measures in `bare` get no interval: that of the AUC takes most of the time, and a rising map leaves it as it was.
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
        "auc": lambda p: _auc(p, labels, of),
    }
    return [_gain(key, make(raw), make(calibrated), labels, resamples, key in bare) for key, make in makers.items()]


def _gain(key: str, before: Statistic, after: Statistic, labels: Floats, resamples: Resamples, bare: bool) -> Gain:
    if key == "auc" and np.ptp(labels) == 0:
        return Gain(key, None, None, None, NONE, "All labels are alike, so there is nothing to tell apart.")
    one = np.ones((1, resamples.n))
    raw, found = float(before(one)[0]), float(after(one)[0])
    if bare:
        return Gain(key, raw, found, found - raw, NONE, "No interval was asked for.")
    if resamples.n < 2:
        return Gain(key, raw, found, found - raw, NONE, "One question has no interval.")
    drawn = np.concatenate([after(w := block.astype(np.float64)) - before(w) for _, block in resamples.blocks()])
    drawn = drawn[np.isfinite(drawn)]  # an AUC is undefined where a resample holds one class only
    if len(drawn) < 2 or np.ptp(drawn) == 0:
        return Gain(key, raw, found, found - raw, NONE, "Every resample gives the same difference.")
    left_out = _left_out(before, after, resamples.n)
    low, high, se, corrected = ends(drawn[:, None], np.array([found - raw]), acceleration(left_out))
    method = "bca" if corrected[0] else "percentile"
    return Gain(key, raw, found, found - raw, Interval(float(low[0]), float(high[0]), float(se[0]), method))


def _left_out(before: Statistic, after: Statistic, n: int) -> Floats:
    """Deviations (n, 1) of the jackknife: each question left out once."""
    parts = []
    for start in range(0, n, _AT_ONCE):
        weights = np.ones((min(_AT_ONCE, n - start), n))
        weights[np.arange(len(weights)), np.arange(start, start + len(weights))] = 0
        parts.append(after(weights) - before(weights))
    values = np.concatenate(parts)
    values = np.where(np.isfinite(values), values, np.nanmean(values))
    return np.asarray((values.mean() - values)[:, None])


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


def _auc(p: Floats, labels: Floats, of: NDArray[np.intp]) -> Statistic:
    """Chance that a positive pair has the larger p, ties half; NaN where a resample holds one class only."""
    levels, rank = np.unique(p, return_inverse=True)
    order = np.argsort(rank, kind="stable")
    starts = np.searchsorted(rank[order], np.arange(len(levels)))

    def statistic(weights: Floats) -> Floats:
        return np.concatenate([part(weights[at : at + _AT_ONCE]) for at in range(0, len(weights), _AT_ONCE)])

    def part(weights: Floats) -> Floats:
        each = weights[:, of[order]]
        positive = np.add.reduceat(each * labels[order], starts, axis=1)
        negative = np.add.reduceat(each * (1 - labels[order]), starts, axis=1)
        below = np.cumsum(negative, axis=1) - negative / 2
        pairs = positive.sum(axis=1) * negative.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((positive * below).sum(axis=1) / pairs)

    return statistic
