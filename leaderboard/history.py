"""The board as it was on a date, rebuilt from what is kept for ever, and how ranks moved between two dates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from core.tables import ShownEvaluation, Submission
from leaderboard.board import assemble
from leaderboard.entries import read_versions
from leaderboard.records import Board, Entry, Row


@dataclass(frozen=True, slots=True)
class Move:
    """A system on two boards; a side is None where it was not there."""

    system: str
    team: str
    system_id: int
    before: Row | None
    after: Row | None
    note: str


def days(session: Session, benchmark_id: str) -> list[date]:
    """The dates (UTC) on which the board may have changed, newest first."""
    of_benchmark = Submission.benchmark_id == benchmark_id
    moments = [
        *session.scalars(select(Submission.published_at).where(of_benchmark, Submission.published_at.is_not(None))),
        *session.scalars(select(Submission.withdrawn_at).where(of_benchmark, Submission.withdrawn_at.is_not(None))),
        *session.scalars(
            select(ShownEvaluation.since)
            .join(Submission, Submission.id == ShownEvaluation.submission_id)
            .where(of_benchmark)
        ),
    ]
    return sorted({moment.date() for moment in moments if moment is not None}, reverse=True)


def board_on(session: Session, benchmark_id: str, day: date, rank_by: str | None = None) -> Board:
    """The board at the end of a day (UTC): versions public then, by the evaluation shown then.

    A version that was withdrawn and published again counts from its last publication on. Raises as
    `leaderboard.board.rows`.
    """
    end = datetime.combine(day, time(), UTC) + timedelta(days=1)
    public = (Submission.published_at < end) & or_(Submission.withdrawn_at.is_(None), Submission.withdrawn_at >= end)
    versions = read_versions(session, benchmark_id, public)
    evaluations = _evaluations(session, benchmark_id, [entry.submission for entry in versions], end)
    latest: dict[int, Entry] = {}
    for entry in versions:
        if entry.submission in evaluations:
            latest[entry.system_id] = replace(entry, evaluation_id=evaluations[entry.submission])
    return assemble(session, benchmark_id, tuple(latest.values()), rank_by)


def moves(before: Board, after: Board) -> tuple[Move, ...]:
    """Every system of either board with what happened to it, in the order of the later one, the gone last."""
    then = {row.entry.system_id: row for row in before.rows}
    now = {row.entry.system_id: row for row in after.rows}
    return tuple(
        Move(each.entry.system, each.entry.team, system_id, then.get(system_id), now.get(system_id),
             _note(then.get(system_id), now.get(system_id)))
        for system_id, each in {**now, **{key: row for key, row in then.items() if key not in now}}.items()
    )  # fmt: skip


def _note(before: Row | None, after: Row | None) -> str:
    if before is None:
        return "new"
    if after is None:
        return "gone"
    parts = []
    if before.entry.version != after.entry.version:
        parts.append(f"version {before.entry.version} → {after.entry.version}")
    elif before.entry.evaluation_id != after.entry.evaluation_id:
        parts.append("scored anew")
    if before.rank != after.rank and before.rank and after.rank:
        if after.rank.worst < before.rank.best:
            parts.append("up, clear of its old places")
        elif after.rank.best > before.rank.worst:
            parts.append("down, clear of its old places")
        else:
            parts.append("places overlap")
    return ", ".join(parts) or "unchanged"


def _evaluations(session: Session, benchmark_id: str, submissions: Sequence[str], end: datetime) -> dict[str, int]:
    """Submission → the evaluation whose scores it had at `end`."""
    query = (
        select(ShownEvaluation.submission_id, ShownEvaluation.evaluation_id)
        .join(Submission, Submission.id == ShownEvaluation.submission_id)
        .where(Submission.benchmark_id == benchmark_id, ShownEvaluation.since < end)
        .order_by(ShownEvaluation.since, ShownEvaluation.id)
    )
    wanted = set(submissions)
    return {submission: evaluation for submission, evaluation in session.execute(query) if submission in wanted}
