"""Large evaluations in chunks: the same scores, one finisher, and failures that are told."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from core.records import Judgment, Pair
from core.settings import Settings
from core.tables import EvaluationRow, Job, JudgmentRow, Submission, Tally
from scorer.stored import read_scores, read_values
from server.bootstrap import Services, build
from server.evaluations import CHUNK, FINISH
from server.worker import Worker
from submissions.ratings.touched import _queue_evaluations
from tests.small_benchmark import add_benchmark, add_team, submit


class Judge:
    """Counts what it is asked; fails on answers it is told to fail on."""

    key, title, help, score_name = "counting", "Counting", "For tests.", "test score"
    signature = "judge:counting@1"

    def __init__(self) -> None:
        self.asked: list[Pair] = []
        self.fails_on = ""

    def judge(self, pairs: list[Pair]) -> list[Judgment]:
        if any(pair.answer == self.fails_on for pair in pairs):
            raise MemoryError("out of memory")
        self.asked += pairs
        return [Judgment(0.9 if pair.answer in pair.premise else 0.1, "1") for pair in pairs]


@pytest.fixture
def judge() -> Judge:
    return Judge()


def wired(settings: Settings, judge: Judge, tmp_path: Path, **more: object) -> Services:
    services = build(dataclasses.replace(settings, **more))
    services.__dict__["scorer"] = services.scorer_with(judge)
    return services


@pytest.fixture
def services(settings: Settings, judge: Judge, tmp_path: Path):
    services = wired(settings, judge, tmp_path, fanout_pairs=1, job_attempts=2)
    add_benchmark(services, tmp_path / "files")
    yield services
    services.database.engine.dispose()


def states(services: Services, kind: str) -> list[str]:
    with services.database.reading() as session:
        return list(session.scalars(select(Job.state).where(Job.kind == kind).order_by(Job.id)))


def reread(services: Services, submission: Submission) -> Submission:
    with services.database.reading() as session:
        return session.get_one(Submission, submission.id)


def due(services: Services) -> None:
    with services.database.transaction() as session:
        session.execute(update(Job).values(not_before=Job.created_at))


def test_chunks_lead_to_the_scores_of_one_go(services: Services, judge: Judge, settings: Settings, tmp_path) -> None:
    submission = submit(services, add_team(services))
    worker = Worker(services)
    assert worker.run_one()
    assert (reread(services, submission).state, states(services, CHUNK)) == ("running", ["queued"] * 3)
    assert worker.run_one()
    told = reread(services, submission)
    assert (told.stage, round(told.progress, 2)) == ("judging: 1 of 3 chunks", 0.33)
    assert worker.run_until_idle() == 3, "two more chunks and the finisher"
    assert (states(services, CHUNK), states(services, FINISH)) == (["done"] * 3, ["done"])
    assert len(judge.asked) == 3
    whole = wired(settings, Judge(), tmp_path, data_dir=str(tmp_path / "whole"), database_url="")
    whole.database.ensure_current()
    add_benchmark(whole, tmp_path / "more files")
    other = submit(whole, add_team(whole))
    assert Worker(whole).run_until_idle() == 1
    with services.database.reading() as one, whole.database.reading() as two:
        left, right = (reread(s, x).evaluation_id for s, x in ((services, submission), (whole, other)))
        assert read_scores(one, left) == read_scores(two, right)
        assert read_values(one, left, "autoais_p").tobytes() == read_values(two, right, "autoais_p").tobytes()
        tallies = dict(one.execute(select(Tally.name, Tally.value)).all())
    assert (tallies["judged_pairs"], tallies["judgment_cache_hits"]) == (3, 3)
    whole.database.engine.dispose()


def test_chunks_that_end_together_finish_once(services: Services) -> None:
    submission = submit(services, add_team(services))
    Worker(services).run_one()
    barrier = threading.Barrier(3)

    def work() -> None:
        worker = Worker(services)
        barrier.wait()
        worker.run_one()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert states(services, FINISH) == ["queued"]
    Worker(services).run_until_idle()
    assert reread(services, submission).state == "scored"


def test_labels_that_change_meanwhile_do_not_split_it_twice(services: Services) -> None:
    submission = submit(services, add_team(services))
    worker = Worker(services)
    worker.run_one()
    with services.database.transaction() as session:
        _queue_evaluations(session, services.queue, [submission.id])
    worker.run_until_idle()
    assert len(states(services, CHUNK)) == 3
    assert (reread(services, submission).state, states(services, FINISH)) == ("scored", ["done"])
    with services.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(EvaluationRow)) == 1


def test_a_chunk_that_fails_tells_why_and_completes_when_retried(services: Services, judge: Judge) -> None:
    judge.fails_on = "Roma"
    submission = submit(services, add_team(services))
    worker = Worker(services)
    for _ in range(8):
        worker.run_one()
        due(services)
    failed = reread(services, submission)
    assert (failed.state, sorted(states(services, CHUNK))) == ("failed", ["done", "done", "failed"])
    assert "MemoryError" in failed.reason
    assert states(services, FINISH) == []
    with services.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(JudgmentRow)) == 2, "the others' judgments are kept"
        job = session.scalar(select(Job.id).where(Job.kind == CHUNK, Job.state == "failed"))
    judge.fails_on = ""
    with services.database.transaction() as session:
        services.queue.retry(session, job)
    worker.run_until_idle()
    assert (reread(services, submission).state, reread(services, submission).reason) == ("scored", None)
    assert len(judge.asked) == 3


def test_judging_can_be_left_to_another_queue(settings: Settings, judge: Judge, tmp_path: Path) -> None:
    services = wired(settings, judge, tmp_path, judge_queue="gpu")
    add_benchmark(services, tmp_path / "files")
    submission = submit(services, add_team(services))
    assert Worker(services, ["cpu"]).run_until_idle() == 1
    assert judge.asked == []
    assert Worker(services, ["gpu"]).run_until_idle() == 1
    assert len(judge.asked) == 3
    assert Worker(services, ["cpu"]).run_until_idle() == 1
    assert reread(services, submission).state == "scored"
    services.database.engine.dispose()
