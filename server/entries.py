"""Entries as their readers see them: who may see which, and where each one stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.orm import Session, joinedload

from core import states
from core.errors import Conflict, NotFound
from core.queue import Queue
from core.tables import Job, Submission, SubmissionSource, System
from core.tables.base import utc_now
from server.auth import Identity
from server.bootstrap import Services


@dataclass(frozen=True)
class Entry:
    """One submission and its place in the queue; `report` is the report that its file got."""

    id: str
    benchmark: str
    system: str
    team: str
    architecture: str
    supervision: str
    description: str
    links: list[str]
    uses_autoais: bool
    size: float | None
    version: int
    file_name: str
    file_blob: str
    digest: str
    coverage: float
    state: str
    stage: str
    progress: float
    queue_position: int | None
    reason: str | None
    retry_at: datetime | None
    """When it is tried again, where an attempt failed and another waits; `reason` then says what went wrong."""
    created_at: datetime
    published_at: datetime | None
    withdrawn_at: datetime | None
    published: bool
    evaluation_id: int | None
    report: dict[str, Any]
    mine: bool
    source: str | None
    """The pinned reference that its file was fetched from; it can name the team, so only the team's own tell it."""

    @property
    def finished(self) -> bool:
        """True once nothing more will happen by itself."""
        return self.state in states.FINISHED


def find(session: Session, queue: Queue, who: Identity | None, submission_id: str) -> Entry:
    """An entry that the asker may see: their own, or one on the board. Raises `NotFound` for all others alike."""
    row = session.get(Submission, submission_id, options=[_whole()])
    if row is None or not shown_to(row, who):
        raise _missing(submission_id)
    return _entry(session, queue, row, who)


def own(session: Session, queue: Queue, who: Identity, submission_id: str) -> Entry:
    """An entry of the asker's own team, or any for a maintainer. Raises `NotFound`."""
    entry = find(session, queue, who, submission_id)
    if not entry.mine:
        raise _missing(submission_id)
    return entry


def listed(session: Session, queue: Queue, who: Identity, benchmark: str | None = None) -> list[Entry]:
    """The entries of the asker's team, newest first."""
    query = select(Submission).join(System).where(System.team_id == who.team_id).options(_whole())
    if benchmark:
        query = query.where(Submission.benchmark_id == benchmark)
    rows = session.scalars(query.order_by(Submission.created_at.desc(), Submission.id))
    return [_entry(session, queue, row, who) for row in rows]


def change(services: Services, who: Identity, submission_id: str, intake: Callable[[str, int | None], object]) -> Entry:
    """Publish or withdraw an entry of the asker's own, by that method of the intake. Raises as `own` and the method."""
    with services.database.reading() as session:
        own(session, services.queue, who, submission_id)
    intake(submission_id, who.owner_id)
    with services.database.reading() as session:
        return find(session, services.queue, who, submission_id)


def evaluated(entry: Entry) -> int:
    """The id of the entry's evaluation. Raises `Conflict` while it has none."""
    if entry.evaluation_id is None:
        hint = "See its reason." if entry.state == states.FAILED else "Ask again when its state is scored."
        raise Conflict(f"Submission {entry.id} has no scores: it is {entry.state}.", hint)
    return entry.evaluation_id


def shown_to(row: Submission, who: Identity | None) -> bool:
    """True for the team's own, for maintainers, and for everybody once it is on the board."""
    return _owned(row, who) or row.on_board


def _owned(row: Submission, who: Identity | None) -> bool:
    return who is not None and (who.maintainer or row.system.team_id == who.team_id)


def _missing(submission_id: str) -> NotFound:
    return NotFound(f"There is no submission {submission_id[:40]!r}, or it is not yours to see.", "Check its id.")


def _whole() -> Any:
    return joinedload(Submission.system).joinedload(System.team)


def _source(session: Session, submission_id: str) -> str | None:
    found = session.get(SubmissionSource, submission_id)
    return found.reference if found else None


def _entry(session: Session, queue: Queue, row: Submission, who: Identity | None) -> Entry:
    system, mine = row.system, _owned(row, who)
    team = system.team.name if mine else system.team.shown(utc_now())
    retry = None if row.state in states.FINISHED else _waits_again(session, row.id)
    state, stage, reason = row.state, row.stage, row.reason
    if retry is not None:
        state, reason = states.QUEUED, retry.reason
        stage = f"waiting for another try, at {retry.not_before:%H:%M:%S} UTC"
    waits = state == states.QUEUED and retry is None
    return Entry(
        id=row.id, benchmark=row.benchmark_id, system=system.name, team=team,
        architecture=system.architecture, supervision=system.supervision, description=system.description,
        links=list(system.links), uses_autoais=system.uses_autoais, size=system.size, version=row.version,
        file_name=row.file_name, file_blob=row.file_blob, digest=row.digest, coverage=row.coverage, state=state,
        stage=stage, progress=row.progress, queue_position=queue.position(session, row.id) if waits else None,
        reason=reason, retry_at=retry.not_before if retry else None,
        created_at=row.created_at, published_at=row.published_at, withdrawn_at=row.withdrawn_at,
        published=row.published, evaluation_id=row.evaluation_id,
        report=row.report, mine=mine, source=_source(session, row.id) if mine else None,
    )  # fmt: skip


def _waits_again(session: Session, submission_id: str) -> Job | None:
    """The submission's job, or a part of it, that failed and waits for its next attempt; the latest of them."""
    own = or_(Job.subject == submission_id, Job.subject.startswith(f"{submission_id}:"))
    query = select(Job).where(own, Job.state == "queued", Job.attempt > 0, Job.reason.is_not(None))
    return session.scalars(query.order_by(Job.not_before.desc())).first()
