"""Jobs as maintainers look after them: what there is, why it failed, trying it again and calling it off."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from core import queue_care
from core.audit import record
from core.errors import Conflict
from core.queue import CANCELLED, OPEN, RETRIABLE, STATES, found
from core.tables import Job
from core.tables.base import utc_now
from server.bootstrap import Services
from server.job_subjects import TITLES, About, about
from server.jobs import AGAIN, FAILED, TOGETHER
from server.lists import MOST


@dataclass(frozen=True, slots=True)
class JobView:
    """One job with what it is about; times in UTC, ages in seconds."""

    id: int
    kind: str
    title: str
    subject: str
    about: str
    submission: str | None
    queue: str
    priority: int
    state: str
    attempt: int
    attempts: int
    parent: int | None
    created_at: datetime
    not_before: datetime
    started_at: datetime | None
    """When its last attempt began."""
    finished_at: datetime | None
    age: float
    """Since it was queued; of one that has ended, until then."""
    busy: float | None
    """How long its last attempt has taken, or took; null before the first and between two."""
    worker: str | None
    """Who has it in hand, or had it last."""
    lease_until: datetime | None
    heartbeat_at: datetime | None
    reason: str | None
    can_retry: bool
    can_cancel: bool

    @property
    def time(self) -> str:
        """How long its last attempt took or has taken so far; of one that waits, how long it has been there."""
        if self.busy is None:
            return f"{'waits' if self.state in OPEN else 'ended after'} {lasting(self.age)}"
        return f"{'runs' if self.state in OPEN else 'took'} {lasting(self.busy)}"


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which jobs; empty means any. `subject` may be a submission's id, which finds its parts too."""

    kind: str = ""
    state: str = ""
    queue: str = ""
    subject: str = ""

    def conditions(self, *, state: bool = True) -> list[ColumnElement[bool]]:
        """As the database reads it; without the state where it is to be counted."""
        named = [(Job.kind, self.kind), (Job.queue, self.queue), *([(Job.state, self.state)] if state else [])]
        conditions = [column == value for column, value in named if value]
        if self.subject:
            parts = (Job.subject.startswith(self.subject + mark, autoescape=True) for mark in ":@")
            conditions.append(or_(Job.subject == self.subject, *parts))
        return conditions


def listed(
    services: Services, session: Session, chosen: Chosen = Chosen(), *, before: int = 0, limit: int = 100
) -> list[JobView]:
    """The newest jobs first, those before an id where one is given."""
    query = select(Job).where(*chosen.conditions())
    if before:
        query = query.where(Job.id < before)
    rows = list(session.scalars(query.order_by(Job.id.desc()).limit(max(1, min(limit, MOST)))))
    told = about(session, rows)
    return [_view(job, told[job.id], services.queue.attempts) for job in rows]


def counts(session: Session, chosen: Chosen = Chosen()) -> dict[str, int]:
    """State → how many jobs are chosen, whatever state was."""
    query = select(Job.state, func.count()).where(*chosen.conditions(state=False)).group_by(Job.state)
    counted: dict[str, int] = dict(session.execute(query).all())
    return {state: counted.get(state, 0) for state in STATES}


def one(services: Services, job_id: int) -> JobView:
    """A job. Raises `NotFound`."""
    with services.database.reading() as session:
        job = found(session, job_id)
        return _view(job, about(session, [job])[job.id], services.queue.attempts)


def retry(services: Services, job_id: int) -> JobView:
    """Queue a failed or cancelled job again; parts of one evaluation go together. Raises `NotFound`, `Conflict`."""
    _retry(services, job_id)
    return one(services, job_id)


def cancel(services: Services, job_id: int) -> JobView:
    """End a job that waits or runs, and say so to what it is for. Raises `NotFound`, `Conflict`.

    Parts of one evaluation go together. A worker that has it in hand stops when it next tells how far it is, and
    cannot finish it.
    """
    with services.database.transaction() as session:
        siblings = _locked(session, job_id)
        job = services.queue.cancel(session, job_id, CANCELLED)
        services.queue.cancel_all(session, siblings, CANCELLED)
        FAILED[job.kind](services, session, job.subject, CANCELLED)
        record(session, "job.cancelled", job.id, kind=job.kind, of=job.subject)
    return one(services, job_id)


def retry_all(services: Services, chosen: Chosen) -> int:
    """Queue all chosen jobs that failed again; returns how many. Jobs with nothing left to do stay as they are."""
    conditions = (Job.state == "failed", *chosen.conditions(state=False))
    with services.database.reading() as session:
        failed = list(session.scalars(select(Job.id).where(*conditions).order_by(Job.id)))
    taken: set[int] = set()
    for job_id in failed:
        if job_id not in taken:
            with suppress(Conflict):
                taken |= _retry(services, job_id)
    return len(taken.intersection(failed))


def pause(services: Services, queue: str) -> None:
    """Let a queue's jobs wait. Raises `Conflict` for an unknown queue."""
    with services.database.transaction() as session:
        queue_care.pause(session, queue)
        record(session, "queue.paused", queue)


def resume(services: Services, queue: str) -> None:
    """Let a queue's jobs be taken again. Raises `Conflict` for an unknown queue."""
    with services.database.transaction() as session:
        queue_care.resume(session, queue)
        record(session, "queue.resumed", queue)
    services.wake.set()


def lasting(seconds: float) -> str:
    """A time span in one unit: `45 s`, `12 min`, `3 h`, `2 d`."""
    for unit, length, most in (("s", 1, 90), ("min", 60, 90 * 60), ("h", 3_600, 48 * 3_600)):
        if seconds < most:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds / 86_400:,.0f} d"


def _retry(services: Services, job_id: int) -> set[int]:
    """The jobs that are queued again: this one and those that go with it."""
    with services.database.transaction() as session:
        siblings = _locked(session, job_id)
        job = services.queue.retry(session, job_id)
        ended = select(Job.id).where(Job.id.in_(siblings), Job.state.in_(RETRIABLE)).order_by(Job.id)
        others = session.scalars(ended).all()
        for other in others:
            services.queue.retry(session, other)
        job.reason = None
        if job.kind in AGAIN:
            AGAIN[job.kind](services, session, job.subject)
        record(session, "job.retried", job.id, kind=job.kind, of=job.subject)
    return {job_id, *others}


def _locked(session: Session, job_id: int) -> list[int]:
    """The jobs that go with this one, all of them locked by now in the one order in which everybody locks them.

    Two who act on two parts of one evaluation would otherwise each hold what the other waits for. Raises `NotFound`.
    """
    job = found(session, job_id)
    if job.kind not in TOGETHER or job.parent is None:
        return []
    all_parts = select(Job.id).where(Job.parent == job.parent, Job.kind == job.kind).order_by(Job.id)
    return [part for part in session.scalars(all_parts.with_for_update()) if part != job_id]


def _view(job: Job, told: About, attempts: int) -> JobView:
    ended = job.finished_at if job.state not in OPEN and job.finished_at else utc_now()
    began = None if job.state == "queued" else job.started_at
    age = max(0.0, (ended - job.created_at).total_seconds())
    busy = None if began is None else max(0.0, (ended - began).total_seconds())
    return JobView(
        job.id, job.kind, TITLES.get(job.kind, job.kind), job.subject, told.text, told.submission, job.queue,
        job.priority, job.state, job.attempt, attempts, job.parent, job.created_at, job.not_before, job.started_at,
        job.finished_at, age, busy, job.worker, job.lease_until, job.heartbeat_at, job.reason, job.state in RETRIABLE,
        job.state in OPEN,
    )  # fmt: skip
