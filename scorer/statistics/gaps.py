"""Mean scores per architecture and the gap between AutoAIS and AIS, with intervals over questions (AQA section 5.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scorer.statistics.measured import Measured, measured
from scorer.statistics.resamples import Floats
from scorer.statistics.system_scores import SystemScores


@dataclass(frozen=True, slots=True)
class Gap:
    """Means over an architecture's systems; a positive gap means that the judge is kinder than the raters.

    The intervals say how each would move with other questions, the systems being the same; `n` is that of systems.
    """

    architecture: str
    systems: int
    ais: Measured
    autoais: Measured
    gap: Measured


def gaps(scores: SystemScores, architectures: Sequence[str]) -> tuple[Gap, ...]:
    """One row per architecture, in the order they first appear; both numbers are resampled together.

    Raises ValueError unless every system has an architecture.
    """
    if len(architectures) != scores.count:
        raise ValueError("architectures must be as many as the systems")
    names = np.asarray(architectures, dtype=object)
    rows = []
    for name in dict.fromkeys(architectures):
        own = scores.of(np.asarray(names == name))
        human, judge = (
            [each.mean(axis=-1) for each in side]
            for side in ((own.ais, own.ais_drawn, own.ais_without), (own.other, own.other_drawn, own.other_without))
        )
        both = [after - before for before, after in zip(human, judge, strict=True)]
        rows.append(Gap(name, own.count, *(_measured(each, own.count) for each in (human, judge, both))))
    return tuple(rows)


def _measured(found: Sequence[Floats], systems: int) -> Measured:
    value, drawn, without = found
    if not np.isfinite(value):
        return Measured(None, systems, reason="a system has no rated question")
    return measured(float(value), systems, drawn, without)
