"""A database that crashes, an object store that refuses, a disk that is full: nothing lost, nothing half stored."""

from __future__ import annotations

import dataclasses
import errno
import math
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError

from core.errors import Conflict, Unavailable
from core.settings import Settings
from core.tables import Job, Submission, System
from server.bootstrap import Services, build
from server.worker import Worker
from tests import fault_parts
from tests.postgres_server import PostgresServer
from tests.slow.test_faults import FORK, check_ends, count
from tests.slow_link import slow_link
from tests.small_benchmark import add_benchmark, add_team, submit
from tests.worker_process import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.service, pytest.mark.timeout(600)]
CRASHES = 4


@pytest.fixture
def postgres_server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    server.start()
    yield server
    server.remove()


def test_a_database_that_crashes(postgres_server: PostgresServer, tmp_path: Path) -> None:
    settings = Settings(
        data_dir=str(tmp_path / "data"), database_url=postgres_server.url, bootstrap_resamples=499, fanout_pairs=15,
        judge_chunk=5, submissions_per_day=0, lease_seconds=2, job_attempts=1_000, poll_seconds=0.05,
    )  # fmt: skip
    services = fault_parts.open_services(settings)
    services.database.upgrade()
    fault_parts.add_questions(services, tmp_path / "files")
    draw, team, sent = random.Random(11), add_team(services), 0
    services.database.engine.dispose()
    workers = [FORK.Process(target=fault_parts.work, args=(settings,)) for _ in range(2)]
    for worker in workers:
        worker.start()
    try:
        for _ in range(CRASHES):
            for _ in range(3):
                _persist(services, team, sent)
                sent += 1
            time.sleep(draw.uniform(0.1, 1.5))
            postgres_server.crash()
            time.sleep(draw.uniform(0.0, 1.0))
            postgres_server.start()
        wait_until(lambda: count(services, Submission.state == "scored") == sent, 120, "scoring")
        wait_until(lambda: count(services, Job.state != "done") == 0, 30, "ending")
        assert all(worker.is_alive() for worker in workers), "workers outlive their database"
    finally:
        for worker in workers:
            worker.kill()
            worker.join()
    check_ends(services, sent, tmp_path / "plain")
    print(f"\n{CRASHES} crashes of PostgreSQL under 2 workers: {sent} submissions scored, 0 stuck, 0 scored twice")
    services.database.engine.dispose()


def _persist(services: Services, team: int, number: int) -> None:
    """Submit as a client that tries again; what was stored before the answer was lost is a conflict, not a loss."""
    for _ in range(50):
        try:
            fault_parts.submit(services, team, number)
        except OperationalError:
            time.sleep(0.1)
        except Conflict:
            return
        else:
            return
    pytest.fail("the database did not come back")


def _rows(services: Services) -> list[int]:
    with services.database.reading() as session:
        return [session.scalar(select(func.count()).select_from(table)) or 0 for table in (Submission, System, Job)]


def test_an_object_store_that_refuses(settings: Settings, s3_endpoint: str, tmp_path: Path) -> None:
    away = build(dataclasses.replace(settings, blobs="s3://aqa-blobs", s3_endpoint="http://127.0.0.1:1"))
    add_benchmark(away, tmp_path / "files")
    team = add_team(away)
    with pytest.raises(Unavailable, match="object store"):
        submit(away, team)
    denied = build(dataclasses.replace(settings, blobs="s3://no-such-bucket", s3_endpoint=s3_endpoint))
    with pytest.raises(Unavailable, match="object store"):
        submit(denied, team)
    assert _rows(away) == [0, 0, 0]
    back = build(dataclasses.replace(settings, blobs="s3://aqa-blobs", s3_endpoint=s3_endpoint))
    assert submit(back, team).version == 1
    for services in (away, denied, back):
        services.database.engine.dispose()


def test_an_object_store_that_is_slow(settings: Settings, s3_endpoint: str, tmp_path: Path) -> None:
    """Slow, it only takes longer; where nothing comes back at all, the sender is told, and nothing is stored."""
    port = int(s3_endpoint.rsplit(":", 1)[1])
    slow = dataclasses.replace(settings, blobs="s3://aqa-blobs/slow")
    with slow_link(port, 0.5) as late, slow_link(port, math.inf) as never:
        patient = build(dataclasses.replace(slow, s3_endpoint=f"http://127.0.0.1:{late}"))
        fault_parts.add_questions(patient, tmp_path / "files")
        team, begun = add_team(patient), time.monotonic()
        fault_parts.submit(patient, team, 1)
        took = time.monotonic() - begun
        assert took > 0.5
        deaf = build(dataclasses.replace(slow, s3_endpoint=f"http://127.0.0.1:{never}"))
        begun = time.monotonic()
        with pytest.raises(Unavailable, match="object store"):
            fault_parts.submit(deaf, team, 2)
        told = time.monotonic() - begun
        assert told < 90, "a sender is not kept waiting for ever"
        assert _rows(patient) == [1, 1, 1]
        assert Worker(fault_parts.open_services(slow)).run_until_idle() > 0
        assert count(patient, Submission.state == "scored") == 1
    print(f"\nS3 late by 0.5 s a piece: stored after {took:.1f} s, scored; S3 deaf: refused after {told:.0f} s")
    for services in (patient, deaf):
        services.database.engine.dispose()


def test_a_full_disk(services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_benchmark(services, tmp_path / "files")
    team = add_team(services)

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch, pytest.raises(Unavailable, match="room"):
        patch.setattr(os, "fsync", full)
        submit(services, team)
    assert _rows(services) == [0, 0, 0]
    folder = services.settings.data_path / "blobs"
    assert [path for path in folder.rglob("*") if path.is_file()] == [], "nothing half written stays"
    assert submit(services, team).version == 1
