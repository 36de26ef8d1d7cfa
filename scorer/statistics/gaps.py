"""Mean scores per architecture and the gap between AutoAIS and AIS (AQA section 5.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean


@dataclass(frozen=True, slots=True)
class Gap:
    """Means over an architecture's systems; a positive gap means that the judge is kinder than the raters."""

    architecture: str
    systems: int
    ais: float
    autoais: float
    gap: float


def gaps(ais: Sequence[float], autoais: Sequence[float], architectures: Sequence[str]) -> tuple[Gap, ...]:
    """One row per architecture, in the order they first appear, from the systems' published scores."""
    rows = []
    for name in dict.fromkeys(architectures):
        own = [(a, b) for a, b, held in zip(ais, autoais, architectures, strict=True) if held == name]
        human, judge = fmean(a for a, _ in own), fmean(b for _, b in own)
        rows.append(Gap(name, len(own), human, judge, judge - human))
    return tuple(rows)
