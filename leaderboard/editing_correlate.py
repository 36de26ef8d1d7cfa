"""Do the automatic numbers of the editing track tell what people say? Over systems, and over single passages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from leaderboard.correlate import SystemLevel, fitted
from leaderboard.ranking import read_many
from leaderboard.records import Board
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
    rows = [
        row
        for row in board.rows
        if row.metrics[pair.human].unranked is None and row.metrics[pair.automatic].value is not None
    ]
    few = "Fewer than two systems have both numbers for every passage."
    return fitted(session, board, rows, (pair.human, pair.automatic), store, few=few)


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
