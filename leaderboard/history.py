"""The board as it was on a date, rebuilt from what is kept for ever, and how ranks moved between two dates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from core.tables import AuditEvent, ShownEvaluation, Submission
from core.tables.base import utc_now
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
        *(each.since for each in _shown(session, benchmark_id)),
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
    wanted = set(submissions)
    then = {at.submission: at.evaluation for at in _shown(session, benchmark_id) if at.since < end}
    return {submission: evaluation for submission, evaluation in then.items() if submission in wanted}


@dataclass(frozen=True, slots=True)
class _Shown:
    """From when on a submission's scores were which evaluation's."""

    submission: str
    evaluation: int
    since: datetime


def _shown(session: Session, benchmark_id: str) -> list[_Shown]:
    """What was shown since when, oldest first."""
    columns = (ShownEvaluation.submission_id, ShownEvaluation.evaluation_id, ShownEvaluation.since)
    query = select(*columns).join(Submission, Submission.id == ShownEvaluation.submission_id)
    ordered = query.where(Submission.benchmark_id == benchmark_id).order_by(ShownEvaluation.since, ShownEvaluation.id)
    noted = [_Shown(*row) for row in session.execute(ordered)]
    return sorted([*noted, *_came_back(session, benchmark_id, noted)], key=lambda each: each.since)


def _came_back(session: Session, benchmark_id: str, noted: Sequence[_Shown]) -> list[_Shown]:
    """Scores that are shown now though the notes end with others.

    For the time before such notes were kept they say when evaluations were made (migration 0010). They miss scores that
    were shown a second time, as when labels were revoked and those from before them stood again. The audit log says
    when a submission was scored last; where it does not, all that is known is how it stands now.
    """
    last = {each.submission: each for each in noted}
    query = select(Submission.id, Submission.evaluation_id).where(
        Submission.benchmark_id == benchmark_id, Submission.evaluation_id.is_not(None)
    )
    stands = ((at, now) for at, now in session.execute(query) if now is not None)
    back = {at: now for at, now in stands if at in last and last[at].evaluation != now}
    if not back:
        return []
    scored = select(AuditEvent.subject, func.max(AuditEvent.at)).where(AuditEvent.action == "submission.scored")
    said = dict(session.execute(scored.where(AuditEvent.subject.in_(back)).group_by(AuditEvent.subject)).all())
    times = {at: said[at] if at in said and said[at] > last[at].since else utc_now() for at in back}
    return [_Shown(at, evaluation, times[at]) for at, evaluation in back.items()]
