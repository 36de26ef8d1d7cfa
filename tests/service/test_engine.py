"""`aqa worker` as processes: with a broker that may forget, without one, and stopped in good order."""

from __future__ import annotations

import dataclasses
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from core.settings import Settings
from core.tables import Job, Submission
from server.announcing import transport_options
from server.bootstrap import Services, build
from tests.redis_server import RedisServer
from tests.small_benchmark import GOOD, add_benchmark, add_team, submit
from tests.worker_process import wait_until, working

pytestmark = pytest.mark.service
RABBITMQ = os.environ.get("AQA_TEST_RABBITMQ", "amqp://guest:guest@127.0.0.1:5672//")


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()


def scored(services: Services) -> int:
    with services.database.reading() as session:
        return session.scalar(select(func.count()).where(Submission.state == "scored")) or 0


def send(services: Services, team: int, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        submit(services, team, [{**GOOD[0], "answer": f"Oslo {number}"}, *GOOD[1:]], f"system {number}")


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings(
        judge="token-overlap",
        data_dir=str(tmp_path / "data"),
        database_url=database_url,
        bootstrap_resamples=499,
        submissions_per_day=0,
        sweep_seconds=1.0,
        lease_seconds=4,
        poll_seconds=0.2,
    )


def test_announced_jobs_are_done_and_lost_announcements_too(
    settings: Settings, redis_server: RedisServer, tmp_path: Path
) -> None:
    services = build(dataclasses.replace(settings, broker_url=redis_server.url))
    add_benchmark(services, tmp_path / "files")
    team, log = add_team(services), tmp_path / "log"
    send(services, team, 3)
    assert redis_server.messages() == 3
    redis_server.flush()
    with working(services.settings, log, "--queue", "cpu", "--concurrency", "2") as worker:
        wait_until(lambda: scored(services) == 3, 60, "scoring what Redis forgot", log)
        send(services, team, 2, 3)
        wait_until(lambda: scored(services) == 5, 20, "scoring what was announced", log)
        redis_server.kill()
        send(services, team, 2, 5)
        redis_server.start()
        wait_until(lambda: scored(services) == 7, 60, "scoring after Redis came back", log)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0
    services.database.engine.dispose()


def test_several_processes_poll_and_stop(settings: Settings, tmp_path: Path) -> None:
    services = build(settings)
    add_benchmark(services, tmp_path / "files")
    send(services, add_team(services), 4)
    log = tmp_path / "log"
    with working(settings, log, "--concurrency", "2") as worker:
        wait_until(lambda: scored(services) == 4, 60, "scoring", log)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0
    services.database.engine.dispose()


@pytest.mark.parametrize("broker", [True, False])
def test_a_job_that_outlasts_the_grace_time_is_given_back(
    settings: Settings, redis_server: RedisServer, tmp_path: Path, broker: bool
) -> None:
    url = redis_server.url if broker else ""
    services = build(dataclasses.replace(settings, broker_url=url, grace_seconds=1.0, lease_seconds=300))
    add_benchmark(services, tmp_path / "files")
    submit(services, add_team(services))
    log = tmp_path / "log"

    def job() -> Job:
        with services.database.reading() as session:
            return session.scalars(select(Job).where(Job.kind == "evaluate")).one()

    with working(services.settings, log, code="from tests.fault_parts import stubborn; stubborn()") as worker:
        wait_until(lambda: job().state == "running", 60, "taking the job", log)
        worker.send_signal(signal.SIGTERM)
        worker.wait(30)
        given_back = job()
    assert (given_back.state, given_back.attempt, given_back.lease_until) == ("queued", 0, None), log.read_text()
    services.database.engine.dispose()


def test_rabbitmq_announces_too(sqlite_url: str, tmp_path: Path) -> None:
    from kombu import Connection

    try:
        with Connection(RABBITMQ, connect_timeout=5) as connection:
            connection.ensure_connection(max_retries=1, timeout=5)
    except OSError as error:
        pytest.skip(f"no RabbitMQ at {RABBITMQ}: {error}")
    data, unswept = str(tmp_path / "data"), 600.0
    chosen = Settings(
        judge="token-overlap", data_dir=data, database_url=sqlite_url, broker_url=RABBITMQ, sweep_seconds=unswept
    )
    services, log = build(chosen), tmp_path / "log"
    add_benchmark(services, tmp_path / "files")
    team = add_team(services)
    try:
        send(services, team, 2)
        with working(chosen, log):
            wait_until(lambda: scored(services) == 2, 60, "scoring what RabbitMQ announced", log)
            send(services, team, 2, 2)
            wait_until(lambda: scored(services) == 4, 20, "scoring what RabbitMQ announced", log)
    finally:
        with Connection(RABBITMQ) as connection:
            connection.channel().queue_delete("aqa.cpu")
    services.database.engine.dispose()


def test_only_redis_gets_the_options_of_redis() -> None:
    assert transport_options("redis://h/0")["unacked_restore_interval"] == 2
    assert transport_options("amqp://h") == transport_options("sqs://") == {}


def test_a_broker_that_is_away_does_not_fail_what_is_announced(settings: Settings, tmp_path: Path) -> None:
    services = build(dataclasses.replace(settings, broker_url="redis://127.0.0.1:1/0"))
    add_benchmark(services, tmp_path / "files")
    assert submit(services, add_team(services)).state == "queued"
    with services.database.transaction() as session:
        assert session.scalar(select(Job.announced_at)) is not None
    services.database.engine.dispose()
