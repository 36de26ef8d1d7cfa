"""Whatever queues a job tells the workers of it after the commit, and gives it the right priority."""

from __future__ import annotations

import dataclasses
import io
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from core.queue import LARGE, SMALL, Announcement, Queue
from core.tables import Job, Webhook
from core.tables.base import utc_now
from server import webhooks
from server.bootstrap import Services
from server.hub import taking
from server.jobs import FAILED, JOBS
from submissions.kinds import EVALUATE, priority_of
from tests.ratings_files import ratings_csv
from tests.small_benchmark import add_benchmark, add_team, submit


@pytest.fixture
def heard(services: Services, tmp_path: Path) -> list[Announcement]:
    """What the workers are told."""
    told: list[Announcement] = []
    services.queue = Queue(services.database, announce=told.append)
    services.intake = dataclasses.replace(services.intake, queue=services.queue)
    add_benchmark(services, tmp_path / "files")
    return told


def queued(services: Services, kind: str) -> list[Job]:
    with services.database.reading() as session:
        return list(session.scalars(select(Job).where(Job.kind == kind).order_by(Job.id)))


def test_webhooks_and_reports_of_faults_are_announced(services: Services, heard: list[Announcement]) -> None:
    team = add_team(services)
    made = submit(services, team)
    with services.database.transaction() as session:
        session.add(Webhook(team_id=team, url="https://example.org/", secret="whsec_x"))
    heard.clear()
    with services.database.transaction() as session:
        FAILED[EVALUATE](services, session, made.id, "It broke.")
        taking.failed(services, session, "1:1", "It broke.")
        assert heard == [], "nothing is told before the commit"
    [told] = queued(services, webhooks.KIND)
    [said] = queued(services, taking.SAY)
    assert sorted(each.id for each in heard) == sorted([told.id, said.id])


def test_a_later_attempt_waits_and_is_left_to_the_sweep(services: Services, heard: list[Announcement]) -> None:
    before = utc_now()
    with services.database.transaction() as session:
        job = services.queue.add(session, webhooks.KIND, "1", after=60)
    assert heard == []
    assert job.announced_at is None
    assert before <= job.not_before - timedelta(seconds=60) <= utc_now()
    assert services.queue.claim(["cpu"], "w") is None


def test_new_ratings_queue_large_files_behind_small_ones(
    services: Services, heard: list[Announcement], monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(services, add_team(services))
    with services.database.transaction() as session:
        for job in session.scalars(select(Job)):
            job.state = "done"
    monkeypatch.setattr("submissions.kinds._SMALL_ROWS", 2)  # the file has five
    services.ratings.apply("small", io.BytesIO(ratings_csv({"oslo": "YYY"})), "r.csv", author="x")
    assert [job.priority for job in queued(services, EVALUATE)] == [SMALL, LARGE]


def test_priorities_follow_the_number_of_rows() -> None:
    assert [priority_of(rows) for rows in (0, 1_000, 1_001)] == [SMALL, SMALL, LARGE]


def test_every_kind_of_job_has_its_end() -> None:
    assert JOBS.keys() == FAILED.keys()
