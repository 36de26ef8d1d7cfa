"""Two systems of the editing track on the same passages: differences per metric, and where they are widest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from leaderboard.compare import OTHER_RECIPE, Difference
from leaderboard.pairing import compared
from leaderboard.ranking import read_many
from leaderboard.records import Board, Column, Row
from scorer.statistics.resamples import ResampleStore


@dataclass(frozen=True, slots=True)
class Apart:
    """A passage with both systems' values of a metric, the first less the second in `difference`."""

    position: int
    first: float
    second: float

    @property
    def difference(self) -> float:
        """In [-1, 1]."""
        return self.first - self.second


def differences(
    session: Session, board: Board, first: Row, second: Row, store: ResampleStore
) -> tuple[Difference, ...]:
    """The first system less the second in every column where one has a number; paired by passage.

    A harmonic mean is compared as the board reports it: the harmonic mean of the means, both resampled together.
    """
    return tuple(
        _difference(session, column, first, second, store)
        for column in board.columns
        if first.metrics[column.key].value is not None or second.metrics[column.key].value is not None
    )


def widest(session: Session, first: Row, second: Row, metric: str) -> tuple[Apart, ...]:
    """Passages on which the two differ in a metric, the widest apart first."""
    one, two = first.entry.evaluation_id, second.entry.evaluation_id
    values = read_many(session, [one, two], metric)
    if one not in values or two not in values:
        return ()
    left, right = values[one], values[two]
    known = np.flatnonzero(np.isfinite(left) & np.isfinite(right) & (left != right))
    order = sorted(known.tolist(), key=lambda at: (-abs(left[at] - right[at]), at))
    return tuple(Apart(at, float(left[at]), float(right[at])) for at in order)


def _difference(session: Session, column: Column, first: Row, second: Row, store: ResampleStore) -> Difference:
    one, two = first.metrics[column.key], second.metrics[column.key]
    if one.value is None or two.value is None:
        other = OTHER_RECIPE if column.apart or one.signature != two.signature else ""
        return Difference(column, one.value, two.value, None, one.reason or two.reason or other)
    found = compared(
        session, first.entry.evaluation_id, second.entry.evaluation_id, column.metric, column.recipe, store
    )  # fmt: skip
    return Difference(column, one.value, two.value, found, None if found.difference is not None else found.reason)
