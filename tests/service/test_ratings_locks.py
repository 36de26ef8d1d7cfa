"""A change of ratings locks what it moves in the order in which everybody does, and in few queries."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import event, func, select, update

from core.database import Database
from core.settings import Settings
from core.tables import Job, Rescore, RescoreItem, Submission
from server.bootstrap import Services, build
from server.deletion import Deleted, delete_team
from server.worker import Worker
from submissions.kinds import RESCORE
from submissions.ratings.touched import _queue_evaluations
from submissions.rescoring import DROPPED, OPEN, subject_of
from tests.lock_order import downwards, wait_until_some_wait
from tests.query_count import counting
from tests.ratings_files import apply, ratings_csv
from tests.small_benchmark import add_benchmark, add_team, submit


@pytest.fixture
def ready(settings: Settings, tmp_path: Path) -> Iterator[Services]:
    """A benchmark, and as many submissions a day as one likes."""
    wired = build(dataclasses.replace(settings, submissions_per_day=0))
    add_benchmark(wired, tmp_path / "files")
    yield wired
    wired.database.engine.dispose()


def after_first(database: Database, locks: Callable[[str], bool], then: Callable[[], None]) -> None:
    """Do something after the first statement that locks."""
    met: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if not met and locks(statement):
            met.append(statement)
            then()

    event.listen(database.engine, "after_cursor_execute", note)


def of_jobs(statement: str) -> bool:
    return "FROM job" in statement and "FOR UPDATE" in statement


def of_submissions(statement: str) -> bool:
    held = "FROM submission" in statement and "FOR UPDATE" in statement
    return held or statement.startswith("UPDATE submission")


@pytest.mark.service
@pytest.mark.parametrize(("locks", "scored"), [(of_jobs, False), (of_submissions, True)])
def test_a_team_is_deleted_while_ratings_move_its_entries(
    two: tuple[Services, Services], monkeypatch: pytest.MonkeyPatch, locks: Callable[[str], bool], scored: bool
) -> None:
    """The deletion comes after the first lock; with two orders of locking, one of the two would be broken off."""
    rating, deleting = two
    team = add_team(rating)
    downwards(rating, team, monkeypatch)
    if scored:
        Worker(rating).run_until_idle()
    gone: list[Future[Deleted]] = []
    with ThreadPoolExecutor(1) as other:

        def delete() -> None:
            gone.append(other.submit(delete_team, deleting, team))
            wait_until_some_wait(rating.database)

        after_first(rating.database, locks, delete)
        apply(rating, ratings_csv({"roma": "YYY"}))
        assert gone[0].result(120).submissions == 2
    Worker(rating).run_until_idle()
    with rating.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Submission)) == 0
        assert set(session.scalars(select(Job.state))) <= {"done", "cancelled"}


@pytest.mark.service
def test_a_deletion_takes_entries_in_order_too(two: tuple[Services, Services], monkeypatch: pytest.MonkeyPatch) -> None:
    """Both wait for the same entry, the first in order; who comes second must not hold another by then."""
    rating, deleting = two
    team = add_team(rating)
    downwards(rating, team, monkeypatch)
    Worker(rating).run_until_idle()
    with ThreadPoolExecutor(2) as others:
        with rating.database.transaction() as session:
            session.get_one(Submission, "a" * 12, with_for_update=True)
            moving = others.submit(apply, rating, ratings_csv({"roma": "YYY"}))
            wait_until_some_wait(rating.database, 1)
            gone = others.submit(delete_team, deleting, team)
            wait_until_some_wait(rating.database, 2)
        moving.result(120)
        assert gone.result(120).submissions == 2


def test_many_submissions_take_no_more_queries_than_one(ready: Services) -> None:
    """But one to store each new job."""
    team, asked = add_team(ready), []
    for many in (1, 20):
        theirs = sorted(submit(ready, team, system=f"{many} {number}").id for number in range(many))
        made = rescored(ready, theirs)
        waiting = moved(ready, theirs)
        with ready.database.transaction() as session:
            session.execute(update(Job).values(state="done"))
        sent = moved(ready, theirs)
        added = [each for each in sent if each.startswith("INSERT INTO job")]
        assert len(added) == 2 * many
        asked.append((len(waiting), len(sent) - len(added)))
        with ready.database.transaction() as session:
            queued = session.scalars(select(Job.subject).where(Job.state == "queued"))
            assert sorted(queued) == sorted([*theirs, *(subject_of(made, each) for each in theirs)])
            assert set(session.scalars(select(RescoreItem.reason))) == {None}
            states = session.scalars(select(Submission.stage).where(Submission.id.in_(theirs)))
            assert set(states) == {"waiting: human ratings have changed"}
            session.execute(update(Job).values(state="done"))
            session.execute(update(Rescore).values(state=DROPPED))
    assert asked[0] == asked[1]


def moved(services: Services, submissions: list[str]) -> list[str]:
    """What is asked of the database where the labels of these move."""
    with services.database.transaction() as session, counting(services.database) as sent:
        _queue_evaluations(session, services.queue, submissions)
    return sent


def rescored(services: Services, submissions: list[str]) -> int:
    """An open rescore that could not score these, and has a job that waits for each."""
    with services.database.transaction() as session:
        made = Rescore(benchmark_id="small", judge="strict", recipe="r", state=OPEN)
        session.add(made)
        session.flush()
        for submission in submissions:
            session.add(RescoreItem(rescore_id=made.id, submission_id=submission, reason="No memory."))
            services.queue.add(session, RESCORE, subject_of(made.id, submission))
    return made.id
