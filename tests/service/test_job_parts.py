"""Parts of one evaluation are cancelled and retried as one, whichever of them is named and by how many at once."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from core.errors import Conflict
from core.queue import CANCELLED
from core.tables import Job
from server import job_desk
from server.bootstrap import Services, build
from server.evaluations import CHUNK, FINISH
from server.worker import Worker
from tests.job_views import jobs, stands
from tests.small_benchmark import add_benchmark, add_team, submit


@pytest.fixture
def split(services: Services, tmp_path: Path) -> Iterator[Services]:
    """A submission whose judging waits in three parts."""
    wired = build(dataclasses.replace(services.settings, fanout_pairs=1))
    add_benchmark(wired, tmp_path / "files")
    submit(wired, add_team(wired))
    Worker(wired).run_one()
    yield wired
    wired.database.engine.dispose()


def states(services: Services) -> dict[int, str]:
    return {job.id: job.state for job in jobs(services, kind=CHUNK)}


def test_parts_of_one_evaluation_are_cancelled_and_retried_as_one(split: Services) -> None:
    at = jobs(split, kind=CHUNK)[0].submission
    assert at is not None
    worker = Worker(split)
    worker.run_one()
    assert sorted(job.state for job in jobs(split, kind=CHUNK)) == ["done", "queued", "queued"]
    first = jobs(split, kind=CHUNK, state="queued")[0]
    job_desk.cancel(split, first.id)
    assert sorted(job.state for job in jobs(split, kind=CHUNK)) == ["cancelled", "cancelled", "done"]
    assert stands(split, at) == ("failed", CANCELLED)
    assert worker.run_until_idle() == 0
    job_desk.retry(split, first.id)
    assert stands(split, at)[0] == "queued"
    worker.run_until_idle()
    assert stands(split, at) == ("scored", None)
    assert [job.state for job in jobs(split, kind=FINISH)] == ["done"]


@pytest.mark.parametrize(("name", "first", "then"), [("cancel", "queued", "cancelled"), ("retry", "failed", "queued")])
def test_two_who_act_on_two_parts_do_not_wait_for_each_other(
    split: Services, monkeypatch: pytest.MonkeyPatch, name: str, first: str, then: str
) -> None:
    """Each is made to have changed its own part before it comes to the others', unless one waits from the start."""
    parts = sorted(states(split))
    with split.database.transaction() as session:
        for part in parts:
            session.get_one(Job, part).state = first
    met, one = threading.Barrier(2), getattr(split.queue, name)

    def slow(session: Session, *asked: object) -> Job:
        changed: Job = one(session, *asked)
        session.flush()
        with suppress(threading.BrokenBarrierError):
            met.wait(0.5)
        return changed

    monkeypatch.setattr(split.queue, name, slow)

    def act(part: int) -> str:
        try:
            return getattr(job_desk, name)(split, part).state
        except Conflict:
            return "too late"

    with ThreadPoolExecutor(2) as both:
        told = [each.result(30) for each in [both.submit(act, part) for part in (parts[0], parts[-1])]]
    assert sorted(told) == sorted([then, "too late"])
    assert set(states(split).values()) == {then}
