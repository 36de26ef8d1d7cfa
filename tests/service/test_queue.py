"""Leases, fencing, attempts and terminal reasons of the job queue, on both databases."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

import pytest

from core.database import Database
from core.errors import Conflict, LeaseLost
from core.queue import Announcement, Queue
from core.tables import Job, Team
from core.tables.base import utc_now
from tests.query_count import counting


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = utc_now()

    def __call__(self) -> datetime:
        return self.now

    def step(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def queue(database: Database, clock: Clock) -> Queue:
    return Queue(database, lease_seconds=60, attempts=3, clock=clock)


def add(database: Database, queue: Queue, subject: str = "s", *, on: str = "cpu", priority: int = 0) -> int:
    with database.transaction() as session:
        return queue.add(session, "evaluate", subject, on, priority).id


def state(database: Database, job_id: int) -> tuple[str, int, str | None]:
    with database.reading() as session:
        job = session.get_one(Job, job_id)
        return job.state, job.attempt, job.reason


def test_first_come_first_served_within_a_priority(database: Database, queue: Queue) -> None:
    add(database, queue, "late", priority=5)
    add(database, queue, "first")
    add(database, queue, "second")
    assert [queue.claim(["cpu"], "w").subject for _ in range(3)] == ["first", "second", "late"]
    assert queue.claim(["cpu"], "w") is None


def test_each_queue_has_its_own_jobs(database: Database, queue: Queue) -> None:
    add(database, queue, "big", on="gpu")
    assert queue.claim(["cpu"], "w") is None
    assert queue.claim(["cpu", "gpu"], "w").subject == "big"
    with pytest.raises(Conflict, match="no queue"):
        add(database, queue, on="tpu")


def test_a_job_is_announced_only_after_its_transaction(database: Database) -> None:
    heard: list[Announcement] = []
    queue = Queue(database, announce=heard.append)
    with pytest.raises(RuntimeError), database.transaction() as session:
        queue.add(session, "evaluate", "lost")
        raise RuntimeError
    assert heard == []
    with database.transaction() as session:
        job = queue.add(session, "evaluate", "kept", "gpu")
        assert heard == []
    assert heard == [Announcement(job.id, "gpu")]


def test_a_dead_workers_job_comes_back_and_its_late_finish_is_refused(
    database: Database, queue: Queue, clock: Clock
) -> None:
    job_id = add(database, queue)
    dead = queue.claim(["cpu"], "dead")
    clock.step(30)
    queue.heartbeat(dead)
    clock.step(59)
    assert queue.claim(["cpu"], "eager") is None
    clock.step(2)
    alive = queue.claim(["cpu"], "alive")
    assert (alive.id, alive.attempt) == (job_id, 2)
    with pytest.raises(LeaseLost), database.transaction() as session:
        session.add(Team(name="written by the dead"))
        queue.finish(session, dead)
    with pytest.raises(LeaseLost):
        queue.heartbeat(dead)
    with database.transaction() as session:
        queue.finish(session, alive)
    assert state(database, job_id)[0] == "done"
    with database.reading() as session:
        assert session.query(Team).count() == 0, "what the dead worker wrote was undone with its finish"


@pytest.mark.parametrize("step", [-7200, 7200])
def test_a_clock_that_steps_neither_loses_nor_doubles_a_job(
    database: Database, queue: Queue, clock: Clock, step: int
) -> None:
    waiting = add(database, queue, "waiting", priority=1)
    add(database, queue, "in hand")
    slow = queue.claim(["cpu"], "slow")
    clock.step(step)
    other = queue.claim(["cpu"], "other")
    assert (other.subject, other.attempt) == ("in hand", 2), "its lease cannot be told from a dead worker's"
    assert queue.claim(["cpu"], "other").id == waiting
    with pytest.raises(LeaseLost), database.transaction() as session:
        queue.finish(session, slow)
    with database.transaction() as session:
        queue.finish(session, other)
    assert state(database, other.id)[0] == "done"


def test_a_heartbeat_after_the_step_keeps_the_job(database: Database, queue: Queue, clock: Clock) -> None:
    add(database, queue)
    held = queue.claim(["cpu"], "alive")
    clock.step(-7200)
    queue.heartbeat(held)
    assert queue.claim(["cpu"], "other") is None


def test_failures_are_retried_with_a_delay_then_end_with_the_reason(
    database: Database, queue: Queue, clock: Clock
) -> None:
    job_id = add(database, queue)
    for attempt in (1, 2):
        claim = queue.claim(["cpu"], "w")
        with database.transaction() as session:
            assert queue.fail(session, claim, f"fault {attempt}", retry=True, after=10) is False
        assert queue.claim(["cpu"], "w") is None
        clock.step(11)
    claim = queue.claim(["cpu"], "w")
    with database.transaction() as session:
        assert queue.fail(session, claim, "fault 3", retry=True) is True
    assert state(database, job_id) == ("failed", 3, "fault 3")
    assert queue.claim(["cpu"], "w") is None


def test_a_final_failure_is_not_tried_again_but_can_be_by_hand(database: Database, queue: Queue) -> None:
    job_id = add(database, queue)
    claim = queue.claim(["cpu"], "w")
    with database.transaction() as session:
        assert queue.fail(session, claim, "no such benchmark", retry=False) is True
    with database.transaction() as session:
        queue.retry(session, job_id)
    assert queue.claim(["cpu"], "w").attempt == 1
    with pytest.raises(Conflict, match="running"), database.transaction() as session:
        queue.retry(session, job_id)


def test_a_job_that_kills_every_worker_is_buried_with_a_reason(database: Database, queue: Queue, clock: Clock) -> None:
    job_id = add(database, queue)
    for _ in range(3):
        assert queue.claim(["cpu"], "w") is not None
        clock.step(61)
    assert queue.claim(["cpu"], "w") is None
    with database.transaction() as session:
        ended = queue.bury(session)
    assert [(e.kind, e.subject) for e in ended] == [("evaluate", "s")]
    assert "3 attempts" in ended[0].reason
    assert state(database, job_id)[0] == "failed"


def test_a_job_given_back_is_not_charged_an_attempt(database: Database, queue: Queue) -> None:
    job_id = add(database, queue)
    queue.give_back(queue.claim(["cpu"], "w"))
    assert state(database, job_id)[:2] == ("queued", 0)
    assert queue.claim(["cpu"], "w").attempt == 1


def test_many_are_cancelled_as_one_whatever_ended_before_stays(database: Database, queue: Queue) -> None:
    first = add(database, queue, "done")
    done = queue.claim(["cpu"], "w")
    with database.transaction() as session:
        queue.finish(session, done)
    ids = [first, *(add(database, queue, str(number)) for number in range(20))]
    held = queue.claim(["cpu"], "w")
    with database.transaction() as session, counting(database) as sent:
        seen = session.get_one(Job, ids[-1])
        assert queue.cancel_all(session, ids[::-1], "Called off.") == ids[1:]
        assert (seen.state, seen.fence) == ("cancelled", 1), "what was read before knows it too"
        assert queue.cancel_all(session, [], "Nothing.") == []
    assert len([each for each in sent if each.startswith("UPDATE")]) == 1
    assert {state(database, each) for each in ids[2:]} == {("cancelled", 0, "Called off.")}
    assert (state(database, first)[0], state(database, held.id)) == ("done", ("cancelled", 1, "Called off."))
    with pytest.raises(LeaseLost):
        queue.heartbeat(held)
    with database.transaction() as session:
        assert queue.cancel_all(session, ids, "Again.") == []
        queue.retry(session, held.id)
    assert queue.claim(["cpu"], "other").id == held.id
    with pytest.raises(LeaseLost):
        queue.heartbeat(held)


def test_position_counts_the_jobs_before(database: Database, queue: Queue) -> None:
    for subject in ("a", "b", "c"):
        add(database, queue, subject)
    add(database, queue, "urgent", priority=-1)
    with database.reading() as session:
        assert [queue.position(session, s) for s in ("urgent", "a", "b", "c", "gone")] == [0, 1, 2, 3, None]


def test_no_job_is_claimed_twice_by_racing_workers(database: Database, queue: Queue) -> None:
    for number in range(30):
        add(database, queue, str(number))
    taken: list[str] = []

    def work() -> None:
        while (claim := queue.claim(["cpu"], threading.current_thread().name)) is not None:
            taken.append(claim.subject)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken, key=int) == [str(number) for number in range(30)]
