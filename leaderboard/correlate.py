"""How well a metric tells what humans say: system-level and instance-level correlations (AQA §5.5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from leaderboard.ranking import read_many
from leaderboard.recipes import resampling
from leaderboard.records import Board, Cell, Column, Entry, Row
from scorer.scoring import Values
from scorer.statistics.correlations import SystemCorrelations, correlate
from scorer.statistics.gaps import Gap, gaps
from scorer.statistics.instances import Instances, instances, pooled
from scorer.statistics.power import Detectable, from_deviation
from scorer.statistics.resamples import ResampleStore
from scorer.statistics.system_scores import system_scores

HUMAN = "ais"
JUDGED = "autoais"


@dataclass(frozen=True, slots=True)
class Point:
    """One system in the drawing; `left_out` says why it is drawn but not in the fit."""

    entry: Entry
    metric: Cell
    ais: Cell
    left_out: str | None


@dataclass(frozen=True, slots=True)
class SystemLevel:
    """What people say against one metric over systems; `line` is (slope, intercept) of the fit by least squares."""

    column: Column
    points: tuple[Point, ...]
    found: SystemCorrelations | None
    line: tuple[float, float] | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class InstanceLevel:
    """The judge against the raters on single questions: per system, and over all of them."""

    systems: tuple[tuple[Entry, Instances], ...]
    pooled: Instances | None
    reason: str | None = None


class _Rated(NamedTuple):
    """The places of a system's rated questions, and its decisions, p and labels there."""

    at: NDArray[np.intp]
    part: tuple[Values, Values, Values]


def comparable(board: Board, without: Collection[str] = ()) -> list[Row]:
    """Systems with AIS at full coverage, but for the architectures left out."""
    return [row for row in board.rows if row.metrics[HUMAN].unranked is None and row.entry.architecture not in without]


def system_level(
    session: Session,
    board: Board,
    key: str,
    store: ResampleStore,
    *,
    without: Collection[str] = (),
    with_autoais: bool = False,
) -> SystemLevel:
    """AIS × the column `key`; systems that use AutoAIS inside are left out of a judge's fit unless asked for."""
    rows = [row for row in comparable(board, without) if row.metrics[key].value is not None]
    few = "Fewer than two systems have both numbers."
    return fitted(session, board, rows, (HUMAN, key), store, few=few, whole=with_autoais)


def fitted(
    session: Session,
    board: Board,
    rows: Sequence[Row],
    keys: tuple[str, str],
    store: ResampleStore,
    *,
    few: str,
    whole: bool = False,
) -> SystemLevel:
    """The human number against the other one (`keys`) over some systems; `few` is said of less than two.

    Systems whose other number is struck are drawn, but left out of the fit unless it is to be `whole`.
    """
    human, key = keys
    column = next(each for each in board.columns if each.key == key)
    out = [None if whole else row.metrics[key].struck for row in rows]
    points = tuple(
        Point(row.entry, row.metrics[key], row.metrics[human], why) for row, why in zip(rows, out, strict=True)
    )
    if len(rows) < 2:
        return SystemLevel(column, points, None, None, few)
    said, other = _table(session, rows, human), _table(session, rows, column.metric)
    rated = np.isfinite(said)
    count, seed = resampling(column.recipe)
    resamples = store.get(len(said), count, seed)
    architectures = [row.entry.architecture for row in rows]
    left_out = [why is not None for why in out]
    found = correlate(np.where(rated, said, 0.0), other, rated, architectures, resamples, left_out)
    return SystemLevel(column, points, found, _line(points))


def instance_level(
    session: Session,
    board: Board,
    store: ResampleStore,
    without: Collection[str] = (),
    systems: Mapping[int, Instances] | None = None,
) -> InstanceLevel:
    """The judge's decisions against the labels, on each system's rated questions.

    `systems` are those of `instance_systems`, where they are known already.
    """
    rows = _judged(board, without)
    if not rows:
        return InstanceLevel((), None, "No system has both AIS and a judge's decisions.")
    known = instance_systems(session, board, store) if systems is None else systems
    rated = [_rated(*each) for each in _three(session, rows)]
    count, seed = _resampling(board)
    questions = np.unique(np.concatenate([each.at for each in rated]))
    parts, places = [each.part for each in rated], [np.searchsorted(questions, each.at) for each in rated]
    together = pooled(parts, places, store.get(len(questions), count, seed))
    return InstanceLevel(tuple((row.entry, known[row.entry.evaluation_id]) for row in rows), together)


def instance_systems(session: Session, board: Board, store: ResampleStore) -> dict[int, Instances]:
    """Evaluation → its judge's decisions against the labels, of every system that can be compared."""
    rows = _judged(board, ())
    rated = [_rated(*each) for each in _three(session, rows)]
    found: dict[int, Instances] = {}
    # Systems rated on equally many questions share their resamples, so these are gone through once.
    for n in dict.fromkeys(len(each.at) for each in rated):
        own = [at for at, each in enumerate(rated) if len(each.at) == n]
        each = instances([rated[at].part for at in own], store.get(n, *_resampling(board)))
        found |= {rows[at].entry.evaluation_id: one for at, one in zip(own, each, strict=True)}
    return found


def architecture_gaps(session: Session, board: Board, store: ResampleStore) -> tuple[Gap, ...]:
    """Mean AutoAIS, mean AIS and their gap per architecture, with intervals over questions."""
    rows = _judged(board, ())
    if not rows:
        return ()
    said, other = _table(session, rows, HUMAN), _table(session, rows, JUDGED)
    rated = np.isfinite(said)
    scores = system_scores(np.where(rated, said, 0.0), other, rated, store.get(len(said), *_resampling(board)))
    return gaps(scores, [row.entry.architecture for row in rows])


def detectable(session: Session, board: Board, key: str) -> Detectable | None:
    """The smallest true difference of two systems that the benchmark shows: from the median pair's spread."""
    column = board.column(key)
    rows = [row for row in board.rows if column is not None and row.metrics[key].unranked is None]
    if column is None or len(rows) < 2:
        return None
    table = _table(session, rows, column.metric)
    table = table[np.isfinite(table).all(axis=1)]
    if len(table) < 2:
        return None
    # var(a − b) for all pairs at once, from the covariance matrix.
    covariance = np.atleast_2d(np.cov(table, rowvar=False))
    variances = np.diag(covariance)
    pairs = (variances[:, None] + variances[None, :] - 2 * covariance)[np.triu_indices(len(rows), 1)]
    return from_deviation(len(table), float(np.sqrt(np.maximum(np.median(pairs), 0.0))))


def _table(session: Session, rows: Sequence[Row], metric: str) -> Values:
    values = read_many(session, [row.entry.evaluation_id for row in rows], metric)
    return np.column_stack([values[row.entry.evaluation_id] for row in rows])


def _judged(board: Board, without: Collection[str]) -> list[Row]:
    return [row for row in comparable(board, without) if row.metrics[JUDGED].value is not None]


def _resampling(board: Board) -> tuple[int, int]:
    """As the judged column is resampled."""
    return resampling(next(each.recipe for each in board.columns if each.key == JUDGED))


def _three(session: Session, rows: Sequence[Row]) -> list[tuple[Values, Values, Values]]:
    """Labels, decisions and p of each row, per question of the benchmark."""
    ids = [row.entry.evaluation_id for row in rows]
    human, decided, p = (read_many(session, ids, key) for key in (HUMAN, JUDGED, "autoais_p"))
    return [(human[at], decided[at], p[at]) for at in ids]


def _rated(human: Values, decided: Values, p: Values) -> _Rated:
    """Decisions, p and labels where there is a label; nothing to judge is p 0."""
    at = np.flatnonzero(np.isfinite(human))
    return _Rated(at, (decided[at], np.nan_to_num(p[at]), human[at]))


def _line(points: Sequence[Point]) -> tuple[float, float] | None:
    """Slope and intercept by least squares over the points in the fit; None where they do not make a line."""
    pairs = [(p.metric.value, p.ais.value) for p in points if p.left_out is None]
    x, y = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    if len(x) < 2 or np.ptp(x) == 0:
        return None
    slope, intercept = np.polyfit(x, y, 1)
    return float(slope), float(intercept)
