"""Jobs as rows: claims are leases with a fencing token, so a dead worker's job comes back and runs to one end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, event, func, or_, select, update
from sqlalchemy.orm import Session

from core.batches import batches
from core.database import Database
from core.errors import Conflict, LeaseLost, NotFound
from core.tables import Job, PausedQueue
from core.tables.base import utc_now

log = logging.getLogger("aqa.queue")
QUEUES = ("cpu", "gpu")
SMALL, LARGE, RESCORE, MODEL = 0, 5, 8, 10
"""Priorities, the lowest first: small files, large files and their parts, scoring anew, runs of models."""
STATES = ("queued", "running", "done", "failed", "cancelled")
OPEN, RETRIABLE = ("queued", "running"), ("failed", "cancelled")
"""What can be cancelled, and what can be retried."""
WAITING = (Job.queue.in_(QUEUES), Job.state == "queued")
"""All that wait. Every queue is named since the index begins with it: without, each look would read the whole table."""
CANCELLED = "Cancelled by a maintainer."


@dataclass(frozen=True, slots=True)
class Announcement:
    """That there is a job on a queue. Which job a worker then takes is decided by its claim alone."""

    id: int
    queue: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A job in one worker's hands; `fence` proves that the hands are still the right ones."""

    id: int
    kind: str
    subject: str
    fence: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Ended:
    """A job that ended as failed, so that whatever it was for can be told why."""

    kind: str
    subject: str
    reason: str


class Queue:
    """The only way to the job table."""

    def __init__(
        self,
        database: Database,
        *,
        lease_seconds: int = 60,
        attempts: int = 3,
        announce: Callable[[Announcement], None] = lambda announcement: None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._database = database
        self._lease = timedelta(seconds=lease_seconds)
        self._attempts = attempts
        self._announce = announce
        self._clock = clock

    @property
    def attempts(self) -> int:
        """How often a job is tried before it ends as failed."""
        return self._attempts

    @property
    def lease_seconds(self) -> float:
        """How long a silent worker keeps its job."""
        return self._lease.total_seconds()

    def add(
        self,
        session: Session,
        kind: str,
        subject: str,
        queue: str = "cpu",
        priority: int = SMALL,
        parent: int | None = None,
        after: float = 0.0,
    ) -> Job:
        """Create a job in the caller's transaction; it is announced only once that has committed.

        One that is due only `after` seconds is left to the next look or sweep after that.
        """
        now = self._clock()
        job = Job(kind=kind, subject=subject, queue=checked(queue), priority=priority, parent=parent)
        job.created_at, job.not_before = now, now + timedelta(seconds=after)
        job.announced_at = None if after else now
        session.add(job)
        session.flush()
        if not after:
            self._announce_after(session, job)
        return job

    def claim(self, queues: Sequence[str], worker: str) -> Claim | None:
        """Take the first job that is free: queued, or running with its lease run out."""
        with self._database.transaction() as session:
            now = self._clock()
            job = session.scalars(
                select(Job)
                .where(
                    Job.queue.in_(queues),
                    Job.queue.not_in(select(PausedQueue.queue)),
                    Job.attempt < self._attempts,
                    self.free(now),
                )
                .order_by(Job.priority, Job.id)
                .limit(1)
                .with_for_update(skip_locked=True)
            ).first()
            if job is None:
                return None
            job.state, job.worker = "running", worker
            job.attempt, job.fence = job.attempt + 1, job.fence + 1
            job.lease_until, job.heartbeat_at = now + self._lease, now
            job.started_at = now
            return Claim(job.id, job.kind, job.subject, job.fence, job.attempt)

    def free(self, now: datetime) -> ColumnElement[bool]:
        """The jobs that a worker may take: those that wait and are due, and those whose lease has run out.

        A clock that was set back makes no job wait: one from the future is due, and a lease longer than any is over.
        """
        due = or_(Job.not_before <= now, Job.created_at > now)
        return or_((Job.state == "queued") & due, (Job.state == "running") & self._expired(now))

    def hold(self, session: Session, claim: Claim) -> None:
        """Lock the job until the transaction ends, so that what it says of its subject is still its to say.

        Raises `LeaseLost` where it is not: taken over, or cancelled.
        """
        mine = (Job.id == claim.id, Job.fence == claim.fence, Job.state == "running")
        if session.scalar(select(Job.id).where(*mine).with_for_update()) is None:
            raise _lost(claim)

    def heartbeat(self, claim: Claim) -> None:
        """Extend the lease. Raises `LeaseLost` if the job is no longer this worker's."""
        now = self._clock()
        with self._database.transaction() as session:
            self._fenced(session, claim, lease_until=now + self._lease, heartbeat_at=now)

    def finish(self, session: Session, claim: Claim) -> None:
        """End the job as done in the transaction that stores its result. Raises `LeaseLost`, which undoes both."""
        self._fenced(session, claim, state="done", finished_at=self._clock(), lease_until=None, reason=None)

    def fail(self, session: Session, claim: Claim, reason: str, *, retry: bool, after: float = 0.0) -> bool:
        """Give the job back after `after` seconds, or end it as failed; returns True if it ended."""
        ends = not retry or claim.attempt >= self._attempts
        now = self._clock()
        if ends:
            self._fenced(session, claim, state="failed", finished_at=now, lease_until=None, reason=reason)
        else:
            later = now + timedelta(seconds=after)
            self._fenced(
                session, claim, state="queued", not_before=later, announced_at=None, lease_until=None, reason=reason
            )
        return ends

    def give_back(self, claim: Claim) -> None:
        """Return a job untried, as a worker does that shuts down in good order."""
        with self._database.transaction() as session:
            self._fenced(session, claim, state="queued", attempt=claim.attempt - 1, announced_at=None, lease_until=None)

    def bury(self, session: Session) -> list[Ended]:
        """End jobs whose last attempt died silently; call it in the transaction that tells their subjects."""
        now = self._clock()
        dead = session.scalars(
            select(Job)
            .where(Job.state == "running", self._expired(now), Job.attempt >= self._attempts)
            .with_for_update(skip_locked=True)
        ).all()
        for job in dead:
            job.state, job.finished_at, job.lease_until = "failed", now, None
            job.fence += 1
            job.reason = (
                f"The worker stopped without a word in each of {job.attempt} attempts. {job.reason or ''}".strip()
            )
        return [Ended(job.kind, job.subject, job.reason or "") for job in dead]

    def retry(self, session: Session, job_id: int) -> Job:
        """Queue a failed or cancelled job again with fresh attempts. Raises `NotFound` or `Conflict`."""
        job = found(session, job_id, lock=True)
        if job.state not in RETRIABLE:
            raise Conflict(f"Job {job_id} is {job.state}; only failed and cancelled jobs can be retried.")
        job.state, job.attempt, job.started_at, job.finished_at = "queued", 0, None, None
        job.not_before = job.announced_at = self._clock()
        self._announce_after(session, job)
        return job

    def cancel(self, session: Session, job_id: int, reason: str) -> Job:
        """End a job that waits or runs; a worker that has it in hand can no longer finish it.

        Raises `NotFound` or `Conflict`.
        """
        job = found(session, job_id, lock=True)
        if job.state not in OPEN:
            raise Conflict(f"Job {job_id} is {job.state}; only jobs that wait or run can be cancelled.")
        self.cancel_all(session, [job_id], reason)
        return job

    def cancel_all(self, session: Session, ids: Collection[int], reason: str) -> list[int]:
        """End those of the jobs that wait or run, as `cancel` does; returns which those were."""
        ended: list[int] = []
        for some in batches(sorted(ids)):
            standing = select(Job.id).where(Job.id.in_(some), Job.state.in_(OPEN))
            # In the order in which everybody locks several jobs.
            held = list(session.scalars(standing.order_by(Job.id).with_for_update()))
            values = {"state": "cancelled", "finished_at": self._clock(), "lease_until": None, "reason": reason}
            session.execute(update(Job).where(Job.id.in_(held)).values(fence=Job.fence + 1, **values))
            ended += held
        return ended

    def hold_waiting(self, session: Session, kinds: Collection[str], subjects: Sequence[str]) -> set[str]:
        """Lock the jobs of these kinds and subjects that wait, so that none starts; returns the subjects that have one.

        All ids are found before the first is locked: so everybody locks several jobs in the order of their ids.
        """
        seen: list[int] = []
        for part in batches(subjects):
            due = (Job.subject.in_(part), Job.kind.in_(kinds), Job.state == "queued")
            seen += session.scalars(select(Job.id).where(*due))
        waiting: set[str] = set()
        for some in batches(sorted(seen)):
            still = select(Job.subject).where(Job.id.in_(some), Job.state == "queued").order_by(Job.id)
            waiting.update(session.scalars(still.with_for_update()))
        return waiting

    def position(self, session: Session, subject: str) -> int | None:
        """How many queued jobs stand before the subject's own; None if it does not wait."""
        return self.positions(session, [subject]).get(subject)

    def positions(self, session: Session, subjects: Collection[str]) -> dict[str, int]:
        """Subject → how many queued jobs stand before its first; what does not wait is left out. One query."""
        before = func.row_number().over(partition_by=Job.queue, order_by=(Job.priority, Job.id)) - 1
        waiting = select(Job.id, Job.subject, before.label("before")).where(*WAITING).subquery()
        own = select(waiting.c.subject, waiting.c.before).where(waiting.c.subject.in_(subjects))
        return dict(session.execute(own.order_by(waiting.c.id.desc())).all())

    def _expired(self, now: datetime) -> ColumnElement[bool]:
        return or_(Job.lease_until < now, Job.lease_until > now + 2 * self._lease)

    def _announce_after(self, session: Session, job: Job) -> None:
        told, kind, subject = Announcement(job.id, job.queue), job.kind, job.subject

        def announce(_session: Session) -> None:
            log.info("job %s is queued on %s: %s", told.id, told.queue, kind, extra={"subject": subject})
            self._announce(told)

        event.listen(session, "after_commit", announce, once=True)

    def _fenced(self, session: Session, claim: Claim, **values: object) -> None:
        changed = session.execute(
            update(Job)
            .where(Job.id == claim.id, Job.fence == claim.fence, Job.state == "running")
            .values(**values)
            .execution_options(synchronize_session=False)
        )
        if changed.rowcount != 1:  # type: ignore[attr-defined]
            raise _lost(claim)


def found(session: Session, job_id: int, *, lock: bool = False) -> Job:
    """A job; locked, nobody else changes it until the transaction ends. Raises `NotFound`."""
    job = session.get(Job, job_id, with_for_update=lock or None) if 0 < job_id < 2**31 else None
    if job is None:
        raise NotFound(f"There is no job {job_id}.")
    return job


def _lost(claim: Claim) -> LeaseLost:
    return LeaseLost(f"Job {claim.id} is no longer this worker's: it was taken over or cancelled.")


def checked(queue: str) -> str:
    """The name itself. Raises `Conflict` for a queue that there is not."""
    if queue not in QUEUES:
        raise Conflict(f"There is no queue {queue!r}.", f"Queues: {', '.join(QUEUES)}.")
    return queue
