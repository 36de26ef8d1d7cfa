"""What the judge's p could learn from the board's human labels, and what that gains on one system's answers.

Nothing is learned from an architecture or a system: p alone is mapped, and no question by a map that saw its labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from leaderboard.ranking import read_many
from leaderboard.recipes import resampling
from leaderboard.records import Board, Cell, Row
from scorer.judges.calibrated.crossfit import CrossFit, Labelled, crossfit
from scorer.judges.calibrated.gain import Gain, gains
from scorer.judges.calibrated.maps import PLATT
from scorer.scoring import Values
from scorer.statistics.intervals import Estimate, estimate
from scorer.statistics.resamples import ResampleStore

METHOD = PLATT


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned from `labels` rated answers of `systems` systems, measured on the `n` of this one.

    `mean` is the mean calibrated p over all questions, an answer that cannot be attributable counting 0: an estimate
    of AIS. Everything but `reason` is empty where nothing could be learned.
    """

    labels: int
    systems: int
    n: int
    gains: tuple[Gain, ...] = ()
    mean: Estimate | None = None
    signature: str = ""
    reason: str | None = None


def learned(session: Session, board: Board, row: Row, store: ResampleStore) -> Learned:
    """Fit to the labels of all systems that the same judge judged; measure on the row's."""
    own = row.entry.evaluation_id
    ids = [each.entry.evaluation_id for each in board.rows if each.entry.judge == row.entry.judge]
    p, ais = read_many(session, ids, "autoais_p"), read_many(session, ids, "ais")
    cell = judged_cell(board, row)
    if own not in p or own not in ais or cell is None:
        return Learned(0, 0, 0, reason="No judged answer of this system has been rated.")
    labelled, systems = _labels(p, ais)
    fit = crossfit(labelled, METHOD)
    mine = _of(p[own], ais[own])
    if fit.reason is not None or not len(mine.p):
        reason = fit.reason or "No judged answer of this system has been rated."
        return Learned(len(labelled.p), systems, len(mine.p), reason=reason)
    count, seed = resampling(cell.signature)
    drawn = store.get(len(mine.p), count, seed)
    measured = gains(mine.p, fit.out_of_fold(mine), mine.labels, mine.groups, drawn)
    mean = estimate(values := _everywhere(fit, p[own]), store.get(len(values), count, seed))
    return Learned(len(labelled.p), systems, len(mine.p), tuple(measured), mean, _signature(cell.signature, fit), None)


def _labels(p: Mapping[int, Values], ais: Mapping[int, Values]) -> tuple[Labelled, int]:
    """The rated answers of all systems; the same p and label on a question count once, as the same answer would."""
    known = [key for key in p if key in ais and (np.isfinite(p[key]) & np.isfinite(ais[key])).any()]
    rows = {
        (at, float(p[key][at]), float(ais[key][at]))
        for key in known
        for at in np.flatnonzero(np.isfinite(p[key]) & np.isfinite(ais[key])).tolist()
    }
    table = sorted(rows)
    return (
        Labelled(np.array([r[1] for r in table]), np.array([r[2] for r in table]), [str(r[0]) for r in table]),
        len(known),
    )


def _of(p: Values, ais: Values) -> Labelled:
    at = np.flatnonzero(np.isfinite(p) & np.isfinite(ais))
    return Labelled(p[at], ais[at], [str(place) for place in at.tolist()])


def _everywhere(fit: CrossFit, p: Values) -> Values:
    """Calibrated p of every question, 0 where there was nothing to judge."""
    at = np.flatnonzero(np.isfinite(p))
    values = np.zeros(len(p))
    values[at] = fit.out_of_fold(Labelled(p[at], np.zeros(len(at)), [str(place) for place in at.tolist()]))
    return values


def judged_cell(board: Board, row: Row) -> Cell | None:
    """The row's number of the judge, in whichever column it stands."""
    cells = (row.metrics[column.key] for column in board.columns if column.metric == "autoais")
    return next((cell for cell in cells if cell.value is not None), None)


def _signature(autoais: str, fit: CrossFit) -> str:
    """AutoAIS's signature with the calibration in it and without the threshold, which a mean of p does not need."""
    parts = [part for part in autoais.split("|")[1:] if not part.startswith(("thr:", "v:"))]
    return "|".join(["autoais_calibrated", *parts, fit.signature, "v:1.0"])
