"""Workers killed, racing, and a broker that forgets: every submission reaches its right end, once.

Counts are printed (`pytest -s`); those of one run stand in docs/operations.md.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import func, select

from core.settings import Settings
from core.tables import EvaluationRow, Job, JudgmentRow, Submission, System
from scorer.stored import read_scores, read_values
from server.bootstrap import Services, build
from server.evaluations import CHUNK, FINISH
from server.worker import Worker
from tests import fault_parts
from tests.redis_server import RedisServer
from tests.small_benchmark import add_team
from tests.worker_process import kill_group, wait_until, working

pytestmark = [pytest.mark.slow, pytest.mark.service, pytest.mark.timeout(600)]
FORK = multiprocessing.get_context("fork")
KILLS = 25


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings(
        data_dir=str(tmp_path / "data"),
        database_url=database_url,
        bootstrap_resamples=499,
        submissions_per_day=0,
        fanout_pairs=15,
        judge_chunk=5,
        lease_seconds=1,
        job_attempts=1_000,
        poll_seconds=0.02,
        sweep_seconds=1.0,
    )


@pytest.fixture
def services(settings: Settings, tmp_path: Path) -> Iterator[Services]:
    wired = fault_parts.open_services(settings)
    fault_parts.add_questions(wired, tmp_path / "files")
    yield wired
    wired.database.engine.dispose()


def count(services: Services, *conditions: object) -> int:
    with services.database.reading() as session:
        return session.scalar(select(func.count()).where(*conditions)) or 0


def finish_all(services: Services, seconds: float = 60) -> None:
    worker, end = Worker(services), time.monotonic() + seconds
    while count(services, Job.state.in_(("queued", "running"))):
        assert time.monotonic() < end, "jobs are stuck"
        if not worker.run_one():
            time.sleep(0.05)


def check_ends(services: Services, sent: int, folder: Path) -> None:
    """Every submission scored, once, with the numbers of an undisturbed run."""
    assert count(services, Submission.state == "scored") == sent
    assert count(services, EvaluationRow.id > 0) == sent
    assert Counter(_states(services)) == {"done": count(services, Job.id > 0)}
    with services.database.reading() as session:
        finishers = session.execute(select(Job.subject, func.count()).where(Job.kind == FINISH).group_by(Job.subject))
        assert [subject for subject, n in finishers if n > 1] == []
    plain = fault_parts.undisturbed(folder, sent)
    left, right = _numbers(services), _numbers(plain)
    assert left.keys() == right.keys()
    for name in left:
        for key in ("em", "f1", "ais", "autoais"):
            assert left[name][key] == right[name][key], (name, key)
        for key in ("em", "f1", "ais"):
            assert left[name][f"{key} values"].tobytes() == right[name][f"{key} values"].tobytes()
        np.testing.assert_allclose(left[name]["p"], right[name]["p"], rtol=0, atol=1e-5)
        assert left[name]["p"].size == fault_parts.QUESTIONS
    plain.database.engine.dispose()


def _states(services: Services) -> list[str]:
    with services.database.reading() as session:
        return list(session.scalars(select(Job.state)))


def _numbers(services: Services) -> dict[str, dict]:
    told = {}
    with services.database.reading() as session:
        rows = session.execute(select(System.name, Submission.evaluation_id).join(Submission)).all()
        for name, evaluation in rows:
            scores = read_scores(session, evaluation)
            told[name] = {key: scores[key].value for key in ("em", "f1", "ais", "autoais")}
            told[name] |= {f"{key} values": read_values(session, evaluation, key) for key in ("em", "f1", "ais")}
            told[name]["p"] = read_values(session, evaluation, "autoais_p")
    return told


def test_workers_killed_at_random_points(services: Services, settings: Settings, tmp_path: Path) -> None:
    draw, team, sent = random.Random(9), add_team(services), 0
    died: Counter[str] = Counter()
    points = [*fault_parts.POINTS * 3, *draw.sample(fault_parts.POINTS, KILLS - 3 * len(fault_parts.POINTS))]
    draw.shuffle(points)
    begun = time.monotonic()
    for point in points:
        call = draw.randint(1, 12 if point in ("judging", "writing judgments") else 3)
        services.database.engine.dispose()  # a fork must not carry open connections along
        victim = FORK.Process(target=fault_parts.die_at, args=(settings, point, call))
        victim.start()
        end = time.monotonic() + 60
        while victim.is_alive():
            if time.monotonic() > end:
                victim.kill()
                pytest.fail(f"the worker never came to {point}, call {call}")
            if count(services, Submission.state.in_(("queued", "running"))) < 2:
                fault_parts.submit(services, team, sent)
                sent += 1
            victim.join(0.1)
        assert victim.exitcode == -9
        died[point] += 1
    attempts = count(services, Job.attempt > 1)
    finish_all(services)
    check_ends(services, sent, tmp_path / "plain")
    print(f"\n{_kind(services)}: {died.total()} SIGKILLs {dict(died)}; {sent} submissions, "
          f"{attempts} jobs tried again, 0 stuck, 0 scored twice; {time.monotonic() - begun:.0f} s")  # fmt: skip


def test_two_workers_race(services: Services, settings: Settings, tmp_path: Path) -> None:
    team, sent = add_team(services), 8
    for number in range(sent):
        fault_parts.submit(services, team, number)
    workers = [FORK.Process(target=fault_parts.work, args=(settings,)) for _ in range(2)]
    for worker in workers:
        worker.start()
    try:
        wait_until(lambda: count(services, Submission.state == "scored") == sent, 120, "scoring")
        wait_until(lambda: count(services, Job.state != "done") == 0, 20, "ending")
    finally:
        for worker in workers:
            worker.kill()
            worker.join()
    check_ends(services, sent, tmp_path / "plain")
    with services.database.reading() as session:
        hands = dict(session.execute(select(Job.worker, func.count()).group_by(Job.worker)).all())
    assert len(hands) == 2
    finishers = count(services, Job.kind == FINISH)
    assert finishers == sent
    print(f"\n{_kind(services)}: {sent} submissions, {count(services, Job.kind == CHUNK)} chunks, "
          f"{finishers} finishers, jobs by worker {sorted(hands.values())}, "
          f"{count(services, JudgmentRow.judge_id > 0)} pairs judged")  # fmt: skip


def test_a_broker_that_forgets_and_workers_that_die(settings: Settings, tmp_path: Path) -> None:
    redis = RedisServer(tmp_path)
    redis.start()
    services = build(dataclasses.replace(settings, judge="token-overlap", broker_url=redis.url, lease_seconds=3))
    fault_parts.add_questions(services, tmp_path / "files")
    draw, team, log, sent = random.Random(10), add_team(services), tmp_path / "log", 0
    faults = ["flushed"] * 4 + ["restarted"] * 4
    draw.shuffle(faults)
    try:
        for half in (faults[:4], faults[4:]):
            with working(services.settings, log, "--concurrency", "2") as group:
                for fault in half:
                    sent = _send(services, team, sent, draw)
                    _disturb(redis, fault, draw)
                    assert group.poll() is None, "the worker outlives its broker"
                sent = _send(services, team, sent, draw)
                kill_group(group)
        with working(services.settings, log, "--concurrency", "2"):
            wait_until(lambda: count(services, Job.state != "done") == 0, 120, "ending", log)
        assert count(services, Submission.state == "scored") == count(services, EvaluationRow.id > 0) == sent
        print(f"\n{_kind(services)}: Redis {dict(Counter(faults))}, 2 worker groups killed; "
              f"{sent} submissions scored, 0 stuck, 0 scored twice")  # fmt: skip
    finally:
        redis.kill()
        services.database.engine.dispose()


def _send(services: Services, team: int, sent: int, draw: random.Random) -> int:
    for number in (sent, sent + 1):
        fault_parts.submit(services, team, number)
    time.sleep(draw.uniform(0.0, 2.0))
    return sent + 2


def _disturb(redis: RedisServer, fault: str, draw: random.Random) -> None:
    if fault == "flushed":
        redis.flush()
    else:
        redis.kill()
        time.sleep(draw.uniform(0.0, 1.0))
        redis.start()


def _kind(services: Services) -> str:
    return services.database.url.get_backend_name()
