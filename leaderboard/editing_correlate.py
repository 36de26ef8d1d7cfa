"""Do the automatic numbers of the editing track tell what people say? Over systems, and over single passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from leaderboard.correlate import Point, SystemLevel, fitted_line
from leaderboard.ranking import read_many
from leaderboard.recipes import resampling
from leaderboard.records import Board, Row
from scorer.scoring import Values
from scorer.statistics.correlations import correlate
from scorer.statistics.resamples import ResampleStore


@dataclass(frozen=True, slots=True)
class Kinship:
    """An automatic metric beside the human one that it stands for, and what the paper found for the two."""

    title: str
    automatic: str
    human: str
    paper: float


PAIRS = {
    "attribution": Kinship("Attribution", "attr_auto", "attr_ais", 0.74),
    "preservation": Kinship("Preservation", "pres_lev", "pres_intent", 0.62),
}


@dataclass(frozen=True, slots=True)
class PassageLevel:
    """Pearson r over the `n` passages of all systems that people rated; None with a reason where undefined."""

    n: int
    pearson: float | None
    reason: str | None = None


def over_systems(session: Session, board: Board, pair: Kinship, store: ResampleStore) -> SystemLevel:
    """The human number against the automatic one, of systems whose passages are all rated.

    Systems that use AutoAIS inside are drawn, but left out of the fit where a judge made the automatic number.
    """
    column = next(each for each in board.columns if each.key == pair.automatic)
    rows = [
        row
        for row in board.rows
        if row.metrics[pair.human].unranked is None and row.metrics[pair.automatic].value is not None
    ]
    out = [row.metrics[pair.automatic].struck for row in rows]
    points = tuple(
        Point(row.entry, row.metrics[pair.automatic], row.metrics[pair.human], why)
        for row, why in zip(rows, out, strict=True)
    )
    if len(rows) < 2:
        return SystemLevel(column, points, None, None, "Fewer than two systems have both numbers for every passage.")
    human, automatic = _table(session, rows, pair.human), _table(session, rows, pair.automatic)
    rated = np.isfinite(human)
    count, seed = resampling(column.recipe)
    architectures = [row.entry.architecture for row in rows]
    drawn, left_out = store.get(len(human), count, seed), [why is not None for why in out]
    found = correlate(np.where(rated, human, 0.0), automatic, rated, architectures, drawn, left_out)
    return SystemLevel(column, points, found, fitted_line(points))


def over_passages(session: Session, board: Board, pair: Kinship) -> PassageLevel:
    """The two numbers on every rated passage of every system with a number in the automatic main column."""
    rows = [row for row in board.rows if row.metrics[pair.automatic].value is not None]
    ids = [row.entry.evaluation_id for row in rows]
    human, automatic = read_many(session, ids, pair.human), read_many(session, ids, pair.automatic)
    both = [(human[at], automatic[at]) for at in ids if at in human and at in automatic]
    pairs = [np.column_stack(each)[np.isfinite(np.column_stack(each)).all(axis=1)] for each in both]
    table = np.concatenate(pairs) if pairs else np.empty((0, 2))
    if len(table) < 3:
        return PassageLevel(len(table), None, "Fewer than three passages have both numbers.")
    if (np.ptp(table, axis=0) == 0).any():
        return PassageLevel(len(table), None, "One of the two numbers is the same on every passage.")
    return PassageLevel(len(table), float(np.corrcoef(table[:, 0], table[:, 1])[0, 1]))


def _table(session: Session, rows: Sequence[Row], metric: str) -> Values:
    values = read_many(session, [row.entry.evaluation_id for row in rows], metric)
    return np.column_stack([values[row.entry.evaluation_id] for row in rows])
