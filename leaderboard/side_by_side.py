"""A benchmark's board before and after scoring anew: every number, its difference, and how ranks moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from core.errors import InvalidInput
from leaderboard.board import assemble
from leaderboard.differences import Differences, Pair, Paired
from leaderboard.entries import read_entries
from leaderboard.records import Board, Cell, Entry, Row
from scorer.statistics.ranks import Rank

_NOT_YET = "Not scored anew yet."
_NOT_PAIRED = "No interval: only {} questions have both values, and the numbers rest on others too."
_ROUNDING = 1e-9
_NEVER = "Left out of it, or entered after it."


@dataclass(frozen=True, slots=True)
class Change:
    """One metric of one system; `changed` counts the questions whose value differs, among `n` that have both.

    The interval of the difference is paired by question.
    """

    before: float | None
    interval_before: tuple[float, float] | None
    n_before: int
    after: float | None
    interval_after: tuple[float, float] | None
    n_after: int | None
    difference: float | None
    interval_difference: tuple[float, float] | None
    changed: int | None
    n: int | None
    signature_before: str
    signature_after: str
    reason: str | None
    """Why a side, or the interval of the difference, is missing."""


@dataclass(frozen=True, slots=True)
class Line:
    """One system of the board; a rank is None where it has none."""

    system_id: int
    system: str
    team: str
    submission: str
    version: int
    ready: bool
    metrics: Mapping[str, Change]
    rank_before: Rank | None
    rank_after: Rank | None
    moved: str


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Both boards. `metrics` is key → title; `rank_by` names the metric whose ranks are told."""

    benchmark: str
    metrics: Mapping[str, str]
    rank_by: str | None
    lines: tuple[Line, ...]
    ended: bool = False
    """Whether no further line will be scored anew."""

    @property
    def unchanged(self) -> dict[str, str]:
        """The metrics, key → title, in which no system's numbers differ, or any question's value.

        None while a system is not scored anew yet: what is not known yet may still differ.
        """
        lines = [line for line in self.lines if line.ready or not self.ended]
        if not lines or not all(line.ready for line in lines):
            return {}
        return {
            key: title for key, title in self.metrics.items()
            if not any(_differs(line.metrics[key]) for line in lines)
        }  # fmt: skip

    @property
    def differing(self) -> dict[str, str]:
        """The other metrics."""
        unchanged = self.unchanged
        return {key: title for key, title in self.metrics.items() if key not in unchanged}

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def side_by_side(
    session: Session, benchmark_id: str, before: Mapping[str, int], after: Mapping[str, int],
    differences: Differences, rank_by: str = "", *, ended: bool = False,
) -> SideBySide:  # fmt: skip
    """The systems on the board, their evaluations by submission before and after; `after` may lack some.

    Those are still to come, unless the scoring anew has `ended`.

    Ranks are by `rank_by`, a metric's key; by default the judged metric that the board ranks by, else what it ranks
    by. Raises as `leaderboard.board.rows`.
    """
    entries = [
        replace(e, evaluation_id=before.get(e.submission, e.evaluation_id)) for e in read_entries(session, benchmark_id)
    ]
    ready = [replace(e, evaluation_id=after[e.submission]) for e in entries if e.submission in after]
    old, new = assemble(session, benchmark_id, entries), assemble(session, benchmark_id, ready)
    titles = _titles(old, new)
    if rank_by and rank_by not in titles:
        raise InvalidInput(f"There is no metric {rank_by!r}.", f"Metrics: {', '.join(titles)}.")
    chosen = rank_by or _judged(new)
    old, new = _ranked(session, entries, old, chosen), _ranked(session, ready, new, chosen)
    changed = _changed(session, old, new, list(titles), differences)
    now = {row.entry.system_id: row for row in new.rows}
    missing = _NEVER if ended else _NOT_YET
    lines = [_line(row, now.get(row.entry.system_id), old, new, titles, changed, missing) for row in old.rows]
    return SideBySide(benchmark_id, titles, chosen or old.rank_by, tuple(lines), ended)


def _differs(change: Change) -> bool:
    numbers = change.before != change.after or change.interval_before != change.interval_after
    return numbers or bool(change.changed)


def _titles(old: Board, new: Board) -> dict[str, str]:
    """Metric → what its main column is called; `old → new` where another judge gives it another name."""
    before, after = ({c.metric: c.title for c in reversed(board.columns)} for board in (old, new if new.rows else old))
    shown: dict[str, str] = {}
    for key in [column.metric for column in (*old.columns, *new.columns)]:
        then, now = before.get(key, after.get(key, "")), after.get(key, before.get(key, ""))
        shown[key] = then if then == now else f"{then} → {now}"
    return shown


def _line(
    row: Row, other: Row | None, old: Board, new: Board, titles: Mapping[str, str],
    changed: Mapping[tuple[int, str], Paired], missing: str,
) -> Line:  # fmt: skip
    entry, rank = row.entry, other.rank if other else None
    metrics = {}
    for key in titles:
        after = _cell(new, other.metrics, key) if other else None
        metrics[key] = _change(_cell(old, row.metrics, key), after, changed.get((entry.system_id, key)), missing)
    return Line(
        entry.system_id, entry.system, entry.team, entry.submission, entry.version, other is not None, metrics,
        row.rank, rank, _moved(row.rank, rank),
    )  # fmt: skip


def _ranked(session: Session, entries: Sequence[Entry], board: Board, metric: str | None) -> Board:
    """The board ranked by a metric, where it has it."""
    if not metric or board.rank_by == metric or board.column(metric) is None:
        return board
    return assemble(session, board.benchmark, entries, metric)


def _judged(board: Board) -> str | None:
    """The first metric that a judge stands behind and at least two systems have: its ranks are what may move."""
    for column in board.columns:
        if column.judge is not None and sum(row.metrics[column.key].value is not None for row in board.rows) > 1:
            return column.metric
    return None


def _cell(board: Board, cells: Mapping[str, Cell], metric: str) -> Cell:
    """The metric's number, in whichever of its columns it stands."""
    own = [cells[column.key] for column in board.columns if column.metric == metric]
    return next((cell for cell in own if cell.signature), own[0] if own else Cell(None, reason="Not measured."))


def _change(before: Cell, after: Cell | None, paired: Paired | None, missing: str) -> Change:
    interval = _interval(before)
    if after is None:
        return Change(
            before.value, interval, before.n, None, None, None, None, None, None, None, before.signature, "", missing
        )  # fmt: skip
    known = paired or Paired(None, None)
    if before.value is None or after.value is None:
        difference, ends, reason = None, None, before.reason or after.reason
    else:
        difference = after.value - before.value
        ends, reason = _ends(difference, known)
    return Change(
        before.value, interval, before.n, after.value, _interval(after), after.n, difference, ends, known.changed,
        known.n, before.signature, after.signature, reason,
    )  # fmt: skip


def _ends(difference: float, paired: Paired) -> tuple[tuple[float, float] | None, str | None]:
    """The ends of the difference that is shown, or why there are none."""
    if paired.interval.low is None or paired.interval.high is None:
        return None, paired.reason
    if paired.difference is None or abs(paired.difference - difference) > _ROUNDING:
        return None, _NOT_PAIRED.format(paired.n)
    return (paired.interval.low, paired.interval.high), None


def _interval(cell: Cell) -> tuple[float, float] | None:
    return None if cell.low is None or cell.high is None else (cell.low, cell.high)


def _changed(
    session: Session, old: Board, new: Board, metrics: Sequence[str], differences: Differences
) -> dict[tuple[int, str], Paired]:
    """(system, metric) → the paired difference, where both sides have a number or a reason for having none."""
    now = {row.entry.system_id: row for row in new.rows}
    found: dict[tuple[int, str], Paired] = {}
    for metric in metrics:
        pairs: dict[Pair, str] = {}
        systems: list[tuple[int, Pair]] = []
        for row in old.rows:
            other = now.get(row.entry.system_id)
            signature = _cell(new, other.metrics, metric).signature if other else ""
            if other and signature:
                pair = (row.entry.evaluation_id, other.entry.evaluation_id)
                pairs[pair] = signature
                systems.append((row.entry.system_id, pair))
        told = differences.of(session, pairs, metric)
        found |= {(system, metric): told[pair] for system, pair in systems}
    return found


def _moved(before: Rank | None, after: Rank | None) -> str:
    if before is None or after is None or before.systems != after.systems:
        return ""  # among fewer systems a place says something else
    if after.worst < before.best:
        return "up"
    if after.best > before.worst:
        return "down"
    return "" if before == after else "overlaps"
