"""Looking after the queues: pausing, re-announcing what waits unheard, and counting what is there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, or_, select, update
from sqlalchemy.orm import Session

from core.database import Database
from core.queue import QUEUES, Announcement, Queue, checked
from core.tables import Job, PausedQueue
from core.tables.base import utc_now


@dataclass(frozen=True, slots=True)
class QueueState:
    """One queue at one moment; `oldest` is the age of the job that has waited longest in seconds, if one waits."""

    queue: str
    paused: bool
    queued: int
    running: int
    failed: int
    oldest: float | None


def pause(session: Session, queue: str) -> None:
    """Let the jobs of a queue wait; jobs in hand are finished. Raises `Conflict` for an unknown queue."""
    if session.get(PausedQueue, checked(queue)) is None:
        session.add(PausedQueue(queue=queue))


def resume(session: Session, queue: str) -> None:
    """Let a queue's jobs be taken again; the next sweep announces them. Raises `Conflict` for an unknown queue."""
    row = session.get(PausedQueue, checked(queue))
    if row is not None:
        session.delete(row)
    session.execute(update(Job).where(Job.queue == queue, Job.state == "queued").values(announced_at=None))


def overview(session: Session, now: datetime | None = None) -> list[QueueState]:
    """Every queue's state."""
    at = now or utc_now()
    counts = select(Job.queue, Job.state, func.count(), func.min(Job.created_at)).where(Job.state != "done")
    found = {
        (queue, state): (n, first) for queue, state, n, first in session.execute(counts.group_by(Job.queue, Job.state))
    }
    paused = set(session.scalars(select(PausedQueue.queue)))
    states = []
    for queue in QUEUES:
        queued, first = found.get((queue, "queued"), (0, None))
        numbers = [found.get((queue, state), (0, None))[0] for state in ("running", "failed")]
        oldest = None if first is None else max(0.0, (at - first).total_seconds())
        states.append(QueueState(queue, queue in paused, queued, numbers[0], numbers[1], oldest))
    return states


class Sweeper:
    """Announces again whatever is free and was last announced a while ago: a lost message costs only that time."""

    def __init__(
        self,
        database: Database,
        queue: Queue,
        announce: Callable[[Announcement], None],
        seconds: float,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._database = database
        self._queue = queue
        self._announce = announce
        self._every = timedelta(seconds=seconds)
        self._clock = clock

    def sweep(self) -> int:
        """One round; returns how many jobs were announced."""
        now = self._clock()
        stale = or_(Job.announced_at.is_(None), Job.announced_at < now - self._every)
        with self._database.transaction() as session:
            due = session.scalars(
                select(Job)
                .where(self._queue.free(now), stale, Job.queue.not_in(select(PausedQueue.queue)))
                .order_by(Job.priority, Job.id)
                .limit(1_000)
                .with_for_update(skip_locked=True)
            ).all()
            for job in due:
                job.announced_at = now
        for job in due:
            self._announce(Announcement(job.id, job.queue))
        return len(due)
