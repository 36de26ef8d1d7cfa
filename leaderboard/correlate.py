"""How well a metric tells what humans say: system-level and instance-level correlations (AQA §5.5)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
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


def instance_level(session: Session, board: Board, without: Collection[str] = ()) -> InstanceLevel:
    """The judge's decisions against the labels, on each system's rated questions."""
    rows = [row for row in comparable(board, without) if row.metrics[JUDGED].value is not None]
    if not rows:
        return InstanceLevel((), None, "No system has both AIS and a judge's decisions.")
    ids = [row.entry.evaluation_id for row in rows]
    human, decided, p = (read_many(session, ids, key) for key in (HUMAN, JUDGED, "autoais_p"))
    parts = [_rated(human[at], decided[at], p[at]) for at in ids]
    each = tuple((row.entry, instances(*part)) for row, part in zip(rows, parts, strict=True))
    return InstanceLevel(each, pooled(parts))


def architecture_gaps(board: Board) -> tuple[Gap, ...]:
    """Mean AutoAIS, mean AIS and their gap per architecture."""
    both = [
        (human, judge, row.entry.architecture)
        for row in comparable(board)
        if (human := row.metrics[HUMAN].value) is not None and (judge := row.metrics[JUDGED].value) is not None
    ]
    return gaps([h for h, _, _ in both], [j for _, j, _ in both], [name for _, _, name in both])


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


def _rated(human: Values, decided: Values, p: Values) -> tuple[Values, Values, Values]:
    """Decisions, p and labels where there is a label; nothing to judge is p 0."""
    known = np.isfinite(human)
    return decided[known], np.nan_to_num(p[known]), human[known]


def _line(points: Sequence[Point]) -> tuple[float, float] | None:
    """Slope and intercept by least squares over the points in the fit; None where they do not make a line."""
    pairs = [(p.metric.value, p.ais.value) for p in points if p.left_out is None]
    x, y = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    if len(x) < 2 or np.ptp(x) == 0:
        return None
    slope, intercept = np.polyfit(x, y, 1)
    return float(slope), float(intercept)
