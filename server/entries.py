"""Entries as their readers see them: who may see which, and where each one stands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from core import states
from core.errors import Conflict, NotFound
from core.queue import WAITING, Queue
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


@dataclass(frozen=True, slots=True)
class _Retry:
    """When an attempt comes after one that failed, and why that one did."""

    at: datetime
    reason: str | None


def find(session: Session, queue: Queue, who: Identity | None, submission_id: str) -> Entry:
    """An entry that the asker may see: their own, or one on the board. Raises `NotFound` for all others alike."""
    row = session.get(Submission, submission_id, options=[whole()])
    if row is None or not shown_to(row, who):
        raise _missing(submission_id)
    return several(session, queue, [row], who)[0]


def own(session: Session, queue: Queue, who: Identity, submission_id: str) -> Entry:
    """An entry of the asker's own team, or any for a maintainer. Raises `NotFound`."""
    entry = find(session, queue, who, submission_id)
    if not entry.mine:
        raise _missing(submission_id)
    return entry


def listed(session: Session, queue: Queue, who: Identity, benchmark: str | None = None) -> list[Entry]:
    """The entries of the asker's team, newest first."""
    query = select(Submission).join(System).where(System.team_id == who.team_id).options(whole())
    if benchmark:
        query = query.where(Submission.benchmark_id == benchmark)
    rows = session.scalars(query.order_by(Submission.created_at.desc(), Submission.id))
    return several(session, queue, rows.all(), who)


def several(session: Session, queue: Queue, rows: Sequence[Submission], who: Identity | None) -> list[Entry]:
    """The entries of rows that the asker may see, in as many queries for many as for one."""
    unfinished = [row for row in rows if row.state not in states.FINISHED]
    again = _waiting_again(session, {row.id for row in unfinished}) if unfinished else {}
    waiting = [row.id for row in unfinished if row.state == states.QUEUED and row.id not in again]
    places = queue.positions(session, waiting) if waiting else {}
    sources = _sources(session, [row.id for row in rows if _owned(row, who)])
    return [_entry(row, who, again.get(row.id), places.get(row.id), sources.get(row.id)) for row in rows]


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


def whole() -> Any:
    """What an entry is made of besides its row, to be read with it."""
    return joinedload(Submission.system).joinedload(System.team)


def _sources(session: Session, submissions: Sequence[str]) -> dict[str, str]:
    query = select(SubmissionSource.submission_id, SubmissionSource.reference)
    return dict(session.execute(query.where(SubmissionSource.submission_id.in_(submissions))).all())


def _entry(row: Submission, who: Identity | None, retry: _Retry | None, place: int | None, source: str | None) -> Entry:
    system, mine = row.system, _owned(row, who)
    team = system.team.name if mine else system.team.shown(utc_now())
    state, stage, reason = row.state, row.stage, row.reason
    if retry is not None:
        state, reason = states.QUEUED, retry.reason
        stage = f"waiting for another try, at {retry.at:%H:%M:%S} UTC"
    return Entry(
        id=row.id, benchmark=row.benchmark_id, system=system.name, team=team,
        architecture=system.architecture, supervision=system.supervision, description=system.description,
        links=list(system.links), uses_autoais=system.uses_autoais, size=system.size, version=row.version,
        file_name=row.file_name, file_blob=row.file_blob, digest=row.digest, coverage=row.coverage, state=state,
        stage=stage, progress=row.progress, queue_position=place, reason=reason, retry_at=retry.at if retry else None,
        created_at=row.created_at, published_at=row.published_at, withdrawn_at=row.withdrawn_at,
        published=row.published, evaluation_id=row.evaluation_id, report=row.report, mine=mine, source=source,
    )  # fmt: skip


def _waiting_again(session: Session, submissions: Collection[str]) -> dict[str, _Retry]:
    """Of each submission the job, or part of one, that failed and waits for its next attempt; the latest of them."""
    failed = (Job.attempt > 0, Job.reason.is_not(None))
    query = select(Job.subject, Job.not_before, Job.reason).where(*WAITING, *failed)
    rows = session.execute(query.order_by(Job.not_before))
    found = ((subject.split(":")[0], _Retry(at, reason)) for subject, at, reason in rows)
    return {submission: retry for submission, retry in found if submission in submissions}
