"""Pausing, sweeping and counting, on both databases."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import update

from core import queue_care
from core.database import Database
from core.errors import Conflict
from core.queue import Announcement, Queue
from core.queue_care import Sweeper
from core.tables import Job
from core.tables.base import utc_now


class Clock:
    def __init__(self) -> None:
        self.now = utc_now()

    def __call__(self):
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def queue(database: Database, clock: Clock) -> Queue:
    return Queue(database, lease_seconds=60, attempts=2, clock=clock)


def add(database: Database, queue: Queue, subject: str, on: str = "cpu") -> int:
    with database.transaction() as session:
        return queue.add(session, "evaluate", subject, on).id


def test_a_paused_queue_keeps_its_jobs_and_others_go_on(database: Database, queue: Queue) -> None:
    add(database, queue, "waits", "gpu")
    add(database, queue, "goes", "cpu")
    for _ in range(2):  # said twice is said once
        with database.transaction() as session:
            queue_care.pause(session, "gpu")
    assert queue.claim(["cpu", "gpu"], "w").subject == "goes"
    assert queue.claim(["cpu", "gpu"], "w") is None
    with database.transaction() as session:
        queue_care.resume(session, "gpu")
    assert queue.claim(["cpu", "gpu"], "w").subject == "waits"
    with pytest.raises(Conflict, match="no queue"), database.transaction() as session:
        queue_care.pause(session, "tpu")


def test_what_waits_unheard_is_announced_again_once_a_period(database: Database, queue: Queue, clock: Clock) -> None:
    heard: list[Announcement] = []
    sweeper = Sweeper(database, queue, heard.append, 15, clock)
    lost, waits = add(database, queue, "lost"), add(database, queue, "delayed", "gpu")
    with database.transaction() as session:
        session.execute(update(Job).where(Job.id == waits).values(not_before=clock.now + timedelta(seconds=40)))
    assert sweeper.sweep() == 0, "it was announced just now"
    clock.now += timedelta(seconds=16)
    assert (sweeper.sweep(), sweeper.sweep()) == (1, 0)
    clock.now += timedelta(seconds=30)
    assert sweeper.sweep() == 2
    assert heard == [Announcement(lost, "cpu"), Announcement(lost, "cpu"), Announcement(waits, "gpu")]


def test_a_silent_workers_job_is_announced_when_its_lease_ends(database: Database, queue: Queue, clock: Clock) -> None:
    heard: list[Announcement] = []
    sweeper = Sweeper(database, queue, heard.append, 15, clock)
    job = add(database, queue, "s")
    queue.claim(["cpu"], "dead")
    clock.now += timedelta(seconds=59)
    assert sweeper.sweep() == 0
    clock.now += timedelta(seconds=2)
    assert sweeper.sweep() == 1
    assert heard == [Announcement(job, "cpu")]


def test_what_was_given_back_or_resumed_is_announced_at_once(database: Database, queue: Queue, clock: Clock) -> None:
    sweeper = Sweeper(database, queue, lambda _announcement: None, 15, clock)
    add(database, queue, "s")
    queue.give_back(queue.claim(["cpu"], "leaves"))
    assert (sweeper.sweep(), sweeper.sweep()) == (1, 0)
    with database.transaction() as session:
        queue_care.pause(session, "cpu")
    clock.now += timedelta(seconds=60)
    assert sweeper.sweep() == 0
    with database.transaction() as session:
        queue_care.resume(session, "cpu")
    assert sweeper.sweep() == 1


def test_the_overview_counts_what_is_there(database: Database, queue: Queue, clock: Clock) -> None:
    for subject in ("a", "b", "c", "d"):
        add(database, queue, subject)
    done, broken, _running = (queue.claim(["cpu"], "w") for _ in range(3))
    with database.transaction() as session:
        queue.finish(session, done)
        queue.fail(session, broken, "broken", retry=False)
        queue_care.pause(session, "gpu")
    with database.transaction() as session:
        session.execute(update(Job).values(created_at=clock.now))
        cpu, gpu = queue_care.overview(session, clock.now + timedelta(seconds=7))
    assert (cpu.queue, cpu.paused, cpu.queued, cpu.running, cpu.failed, cpu.oldest) == ("cpu", False, 1, 1, 1, 7.0)
    assert (gpu.queue, gpu.paused, gpu.queued, gpu.running, gpu.failed, gpu.oldest) == ("gpu", True, 0, 0, 0, None)
