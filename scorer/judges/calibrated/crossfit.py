"""Fitting without looking: a question's score comes from a map that saw no label of that question."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.text import hash_key
from scorer.judges.calibrated.maps import METHODS, PLATT_LENGTH, Map, fit
from scorer.statistics.resamples import Floats

VERSION = 1
FOLDS = 5
MINIMUM_LABELS = 40
MINIMUM_PER_CLASS = 10


@dataclass(frozen=True)
class Labelled:
    """Judged and labelled pairs: p (n,), labels 0 or 1 (n,), the question of each, and both lengths in words (n, 2)."""

    p: Floats
    labels: Floats
    groups: Sequence[str]
    lengths: Floats | None = None

    @property
    def digest(self) -> str:
        """A hash of the labels, whatever their order; stands in signatures as `labels:`."""
        rows = sorted(f"{group}\x1f{p!r}\x1f{y:.0f}" for group, p, y in zip(*self._columns(), strict=True))
        return hash_key(*rows, size=6).hex() if rows else "none"

    def subset(self, kept: NDArray[np.bool_]) -> Labelled:
        """The pairs of a mask (n,)."""
        groups = [group for group, wanted in zip(self.groups, kept, strict=True) if wanted]
        return Labelled(self.p[kept], self.labels[kept], groups, None if self.lengths is None else self.lengths[kept])

    def _columns(self) -> tuple[Sequence[str], list[float], list[float]]:
        return self.groups, self.p.tolist(), self.labels.tolist()


@dataclass(frozen=True)
class CrossFit:
    """One map per fold, fitted on the labels of the other folds, and one on all labels for questions without any.

    `maps` is empty, and `whole` None, exactly where `reason` says why nothing could be learned.
    """

    method: str
    maps: tuple[Map, ...]
    whole: Map | None
    labels: str
    n: int
    reason: str | None = None

    @property
    def signature(self) -> str:
        """The part of a score's signature that says how it was calibrated."""
        return f"method:{self.method}|folds:{FOLDS}|labels:{self.labels}"

    def out_of_fold(self, labelled: Labelled) -> Floats:
        """Calibrated p (n,) of pairs, each by the map that saw no label of its question."""
        found = np.empty(len(labelled.p))
        folds = folds_of(labelled.groups)
        for fold, fitted in enumerate(self.maps):
            own = folds == fold
            found[own] = fitted(labelled.p[own], None if labelled.lengths is None else labelled.lengths[own])
        return found


def fold_of(group: str) -> int:
    """The fold of a question: a hash of it, so that neither order nor later labels move it."""
    return int.from_bytes(hashlib.sha256(group.encode("utf-8", "surrogatepass")).digest()[:8], "big") % FOLDS


def folds_of(groups: Sequence[str]) -> NDArray[np.int64]:
    """The folds of several questions, (n,)."""
    known = {group: fold_of(group) for group in dict.fromkeys(groups)}
    return np.array([known[group] for group in groups], dtype=np.int64)


def crossfit(labelled: Labelled, method: str) -> CrossFit:
    """Fit the maps, or say why there are too few labels for it."""
    if method not in METHODS or (method == PLATT_LENGTH and labelled.lengths is None):
        raise ValueError(f"{method!r} cannot be fitted to these labels")
    folds = folds_of(labelled.groups)
    reason = _reason(labelled.labels, folds)
    n, digest = len(labelled.labels), labelled.digest
    if reason is not None:
        return CrossFit(method, (), None, digest, n, reason)
    maps = tuple(_fit(method, labelled.subset(folds != fold)) for fold in range(FOLDS))
    return CrossFit(method, maps, _fit(method, labelled), digest, n)


def _fit(method: str, labelled: Labelled) -> Map:
    return fit(method, labelled.p, labelled.labels, labelled.lengths)


def _reason(labels: Floats, folds: NDArray[np.int64]) -> str | None:
    if len(labels) < MINIMUM_LABELS:
        return f"{len(labels)} judged answers have a label; {MINIMUM_LABELS} are needed to learn from."
    for fold in range(FOLDS):
        rest = labels[folds != fold]
        fewest = int(min(rest.sum(), len(rest) - rest.sum()))
        if fewest < MINIMUM_PER_CLASS:
            return (
                f"Without the questions of one fold, {fewest} labels are left in the rarer class; "
                f"{MINIMUM_PER_CLASS} are needed to learn from."
            )
    return None
