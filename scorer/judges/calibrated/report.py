"""What a map learns from labels, and whether it holds for other questions and for other sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorer.judges.calibrated.crossfit import CrossFit, Labelled, crossfit
from scorer.judges.calibrated.gain import Gain, gains
from scorer.judges.calibrated.maps import fit
from scorer.statistics.resamples import Floats, ResampleStore

WITHIN, ACROSS, ALL = "within", "across", "all"
SCOPES: dict[str, str] = {
    ALL: "all sources, cross-validated by question",
    WITHIN: "this source alone, cross-validated by question",
    ACROSS: "learned from the other sources alone",
}


@dataclass(frozen=True)
class Line:
    """One scope of one source: pairs, how many are attributable, the gains, or a reason why there are none."""

    scope: str
    source: str
    n: int
    positive: int
    questions: int
    gains: tuple[Gain, ...]
    reason: str | None = None


@dataclass(frozen=True)
class Report:
    """The fit to all labels, and its lines: all first, then each source within and across."""

    fit: CrossFit
    lines: tuple[Line, ...]


def report(
    labelled: Labelled, sources: Sequence[str], method: str, store: ResampleStore, resamples: int, seed: int
) -> Report:
    """Fit to all labels and measure; by source only where there are several."""

    def measured(scope: str, source: str, part: Labelled, calibrated: Floats | None, reason: str | None) -> Line:
        questions = len(set(part.groups))
        found: tuple[Gain, ...] = ()
        if calibrated is not None:
            drawn = store.get(questions, resamples, seed)
            found = tuple(gains(part.p, calibrated, part.labels, part.groups, drawn))
        return Line(scope, source, len(part.p), int(part.labels.sum()), questions, found, reason)

    def crossed(scope: str, source: str, part: Labelled) -> tuple[CrossFit, Line]:
        fitted = crossfit(part, method)
        return fitted, measured(scope, source, part, fitted.out_of_fold(part) if fitted.maps else None, fitted.reason)

    whole, line = crossed(ALL, "", labelled)
    lines = [line]
    names = sorted(set(sources))
    for name in names if len(names) > 1 else ():
        inside = np.array([source == name for source in sources])
        part = labelled.subset(inside)
        lines.append(crossed(WITHIN, name, part)[1])
        lines.append(measured(ACROSS, name, part, *_across(labelled, inside, method)))
    return Report(whole, tuple(lines))


def _across(labelled: Labelled, inside: NDArray[np.bool_], method: str) -> tuple[Floats | None, str | None]:
    """Calibrated p of a source by a map that saw neither the source nor any question of it."""
    own = labelled.subset(inside)
    asked = set(own.groups)
    elsewhere = np.array([group not in asked for group in labelled.groups]) & ~inside
    rest = labelled.subset(elsewhere)
    reason = crossfit(rest, method).reason
    if reason is not None:
        return None, reason
    return fit(method, rest.p, rest.labels, rest.lengths)(own.p, own.lengths), None
