"""Do the automatic numbers of the editing track tell what people say? Over systems, and over single passages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from leaderboard.correlate import SystemLevel, fitted
from leaderboard.ranking import read_many
from leaderboard.recipes import resampling
from leaderboard.records import Board
from scorer.statistics.clustered import pearson_clustered
from scorer.statistics.measured import Measured
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
    """Pearson r over the rated pairs of a system and a passage; the interval draws the `passages` anew."""

    passages: int
    pearson: Measured


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


def over_passages(session: Session, board: Board, pair: Kinship, store: ResampleStore) -> PassageLevel:
    """The two numbers on every rated passage of every system with a number in the automatic main column.

    A passage is drawn with what all systems made of it: these share its text, and mostly its difficulty.
    """
    rows = [row for row in board.rows if row.metrics[pair.automatic].value is not None]
    ids = [row.entry.evaluation_id for row in rows]
    human, automatic = read_many(session, ids, pair.human), read_many(session, ids, pair.automatic)
    both = [np.column_stack([human[at], automatic[at]]) for at in ids if at in human and at in automatic]
    known = [np.flatnonzero(np.isfinite(each).all(axis=1)) for each in both]
    table = np.concatenate([each[at] for each, at in zip(both, known, strict=True)]) if both else np.empty((0, 2))
    passages, of = np.unique(np.concatenate([*known, np.empty(0, dtype=np.intp)]), return_inverse=True)
    if not len(table):
        return PassageLevel(0, Measured(None, 0, reason="no passage has both numbers"))
    recipe = next(each.recipe for each in board.columns if each.key == pair.automatic)
    drawn = store.get(len(passages), *resampling(recipe))
    return PassageLevel(len(passages), pearson_clustered(table[:, 0], table[:, 1], of, drawn))
