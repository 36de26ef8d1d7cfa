"""Two evaluations compared in one metric as the board reports it: a mean, or a harmonic mean of two means."""

from __future__ import annotations

import numpy as np
from sqlalchemy.orm import Session

from leaderboard.ranking import read_many
from leaderboard.recipes import resampling
from scorer import metrics
from scorer.scoring import Values
from scorer.statistics.comparisons import Comparison, compare
from scorer.statistics.harmonic import compare_harmonic
from scorer.statistics.resamples import ResampleStore


def compared(
    session: Session, first: int, second: int, metric: str, recipe: str, store: ResampleStore
) -> Comparison:  # fmt: skip
    """The first evaluation less the second, on what both have; resampled as the recipe says.

    Without anything in common the comparison has no numbers, with the reason.
    """
    parts = metrics.harmonic_of(metric)
    tables = [_paired(session, first, second, part) for part in parts or (metric,)]
    if not all(map(len, tables)):
        tables = [np.empty((0, 2)) for _ in tables]
    common = np.isfinite(np.hstack(tables)).all(axis=1)
    count, seed = resampling(recipe)
    drawn = store.get(int(common.sum()), count, seed)
    known = [table[common] for table in tables]
    if parts is None:
        return compare(known[0][:, 0], known[0][:, 1], drawn)
    one, two = (np.column_stack([table[:, side] for table in known]) for side in (0, 1))
    return compare_harmonic(one, two, drawn)


def _paired(session: Session, first: int, second: int, metric: str) -> Values:
    """The two series of values (n, 2); no rows where one is not there."""
    values = read_many(session, [first, second], metric)
    if first not in values or second not in values:
        return np.empty((0, 2))
    return np.column_stack([values[first], values[second]])
