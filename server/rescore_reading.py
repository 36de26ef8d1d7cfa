"""Rescores as their readers see them: which there are, how far each is, and old and new side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from core.errors import NotFound
from core.tables import Rescore, RescoreItem, Submission, System
from leaderboard.differences import Differences
from leaderboard.side_by_side import SideBySide, side_by_side
from submissions.rescoring import OPEN, PROMOTED


@dataclass(frozen=True, slots=True)
class Lacking:
    """An entry that cannot be promoted yet, and why."""

    submission: str
    system: str
    version: int
    why: str


def listed(session: Session, benchmark_id: str = "", *, before: int = 0, limit: int = 100) -> list[Rescore]:
    """The newest rescores first, those before an id where one is given; of one benchmark where it is named."""
    query = select(Rescore).order_by(Rescore.id.desc()).limit(limit)
    if benchmark_id:
        query = query.where(Rescore.benchmark_id == benchmark_id)
    return list(session.scalars(query.where(Rescore.id < before) if before else query))


def open_ones(session: Session, benchmark_id: str = "") -> list[Rescore]:
    """The rescores that are open, newest first: at most one of each benchmark."""
    query = select(Rescore).where(Rescore.state == OPEN).order_by(Rescore.id.desc())
    return list(session.scalars(query.where(Rescore.benchmark_id == benchmark_id) if benchmark_id else query))


def found(session: Session, rescore_id: int) -> Rescore:
    """A rescore. Raises `NotFound`."""
    row = session.get(Rescore, rescore_id) if 0 < rescore_id < 2**31 else None
    if row is None:
        raise NotFound(f"There is no rescore {rescore_id}.", "List them with: aqa rescore status")
    return row


def lacking(session: Session, row: Rescore) -> list[Lacking]:
    """The shown entries without new scores, with what keeps them: by system and version."""
    return _lacking(session, [row.id])[row.id]


def progress_of(session: Session, row: Rescore) -> tuple[int, int, int]:
    """How many entries have their new scores, how many failed, and how many there are."""
    return _progress(session, [row.id])[row.id]


def compared(session: Session, row: Rescore, differences: Differences, rank_by: str = "") -> SideBySide:
    """What is on the board, with its old and new scores; once promoted, what was old then."""
    items = session.scalars(select(RescoreItem).where(RescoreItem.rescore_id == row.id)).all()
    over = row.state == PROMOTED
    before = {item.submission_id: item.before_id for item in items if over and item.before_id is not None}
    after = {item.submission_id: item.evaluation_id for item in items if item.evaluation_id and not item.left_out}
    return side_by_side(session, row.benchmark_id, before, after, differences, rank_by, ended=row.state != OPEN)


def document(session: Session, row: Rescore) -> dict[str, Any]:
    """A rescore as the API and the command line tell of it."""
    return documents(session, [row])[0]


def documents(session: Session, rows: Sequence[Rescore]) -> list[dict[str, Any]]:
    """The same of several, in as many queries for many as for one."""
    progress = _progress(session, [row.id for row in rows])
    missing = _lacking(session, [row.id for row in rows if row.state == OPEN])
    return [_document(row, progress[row.id], missing[row.id]) for row in rows]


def _document(row: Rescore, progress: tuple[int, int, int], missing: Sequence[Lacking]) -> dict[str, Any]:
    done, failed, total = progress
    return {
        "id": row.id, "benchmark": row.benchmark_id, "judge": row.judge, "recipe": row.recipe,
        "released_too": row.released_too, "state": row.state, "created_at": row.created_at, "ended_at": row.ended_at,
        "entries": total, "done": done, "failed": failed, "lacking": [asdict(each) for each in missing],
        "ready": row.state == OPEN and not missing,
    }  # fmt: skip


def _progress(session: Session, ids: Sequence[int]) -> defaultdict[int, tuple[int, int, int]]:
    counts = func.count(RescoreItem.evaluation_id), func.count(RescoreItem.reason), func.count()
    query = select(RescoreItem.rescore_id, *counts).where(RescoreItem.rescore_id.in_(ids))
    told = {row: (done, failed, total) for row, done, failed, total in
            session.execute(query.group_by(RescoreItem.rescore_id))}  # fmt: skip
    return defaultdict(lambda: (0, 0, 0), told)


def _lacking(session: Session, ids: Sequence[int]) -> defaultdict[int, list[Lacking]]:
    query = (
        select(RescoreItem.rescore_id, RescoreItem.reason, Submission.id, Submission.version, System.name)
        .join(Submission, Submission.id == RescoreItem.submission_id)
        .join(System, System.id == Submission.system_id)
        .where(
            RescoreItem.rescore_id.in_(ids),
            RescoreItem.evaluation_id.is_(None),
            Submission.evaluation_id.is_not(None),
        )
        .order_by(System.name, Submission.version)
    )
    told: defaultdict[int, list[Lacking]] = defaultdict(list)
    for row, reason, submission, version, system in session.execute(query):
        told[row].append(Lacking(submission, system, version, reason or "waits for a worker"))
    return told
