"""A run is a job: its predictions enter like anybody's, a killed one goes on, budgets leave what there is."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest
from sqlalchemy import select

from core.errors import InvalidInput, NotFound
from core.tables import Job, PredictionRow, RunRow, Submission, System
from leaderboard.board import rows
from leaderboard.waiting import waiting
from server import runs
from server.bootstrap import Services
from server.deletion import delete_team, drop_unused
from server.runs import RunPlan
from server.worker import Worker
from systems.catalog import catalog
from tests.small_benchmark import GOOD, NILE, OSLO, QUESTIONS, ROME, add_benchmark, add_team, submit

ANSWERS = {
    "what is the capital of norway": "Oslo",
    "what is the capital of italy": "Rome",
    "how long is the nile": "6,650 km",
}

CONTENT = "".join(json.dumps({"question": q, "answer": a}) + "\n" for q, a in ANSWERS.items())


@pytest.fixture
def answers(tmp_path: Path) -> str:
    """The spec of a file with answers to three of the five questions."""
    path = tmp_path / "answers.jsonl"
    path.write_text(CONTENT)
    return f"answers:{path}"


def submission_of(services: Services, run_id: str) -> Submission:
    with services.database.reading() as session:
        found = session.get(Submission, runs.get(services, run_id).submission_id)
        assert found is not None
        return found


def test_a_run_reaches_the_board_by_the_same_door(services: Services, tmp_path: Path, answers: str) -> None:
    add_benchmark(services, tmp_path / "bench")
    identifier = runs.start(services, "attribute-bm25", "small", RunPlan({"answerer": answers}, publish=True))
    assert Worker(services).run_until_idle() == 2
    run, submission = runs.get(services, identifier), submission_of(services, identifier)
    assert (run.state, run.progress, submission.state) == ("done", 1.0, "scored")
    with services.database.reading() as session:
        found = session.execute(
            select(PredictionRow.answer, PredictionRow.passage_id)
            .where(PredictionRow.submission_id == submission.id)
            .order_by(PredictionRow.position)
        ).all()
    assert [tuple(row) for row in found] == [("Oslo", OSLO), ("Rome", ROME), ("6,650 km", NILE), ("", None), ("", None)]
    assert run.details["flags"] == {"no answer to attribute": 2, "not in the file": 2}
    assert run.details["benchmark"].startswith("small@")
    assert "bm25:lucene,k1=0.9,b=0.4" in run.details["signature"]
    assert run.details["versions"]["bm25s"]
    assert services.blobs.exists(run.details["outputs"])
    with services.database.reading() as session:
        shown = rows(session, "small").rows
    assert [row.entry.system for row in shown] == ["Attribute-BM25 (answerer=answers.jsonl)"]


def test_what_has_not_run_waits(services: Services, tmp_path: Path, answers: str) -> None:
    """Only the very system takes its name off the list: no stand-in, no team's of the same name, no part of a run."""
    add_benchmark(services, tmp_path / "bench")
    with services.database.reading() as session:
        everything = waiting(session, "small")
    assert [each.name for each in everything] == list(catalog())
    assert next(each for each in everything if each.name == "RTR-4").needs == (
        "FiD (T5-XL) trained on NQ with T = 50 passages",
    )
    runs.start(services, "attribute-bm25", "small", RunPlan({"answerer": answers}))
    submit(services, add_team(services), system="RTR-10")
    own = add_team(services, "reference")
    submit(services, own, system="RTR-4", reference=True)
    submit(services, own, GOOD[:1], system="RTR-12", reference=True)
    Worker(services).run_until_idle()
    with services.database.reading() as session:
        left = [each.name for each in waiting(session, "small")]
    assert set(catalog()) - set(left) == {"RTR-4"}


def test_a_limit_answers_the_first_questions_only(services: Services, tmp_path: Path, answers: str) -> None:
    add_benchmark(services, tmp_path / "bench")
    identifier = runs.start(services, "attribute-bm25", "small", RunPlan({"answerer": answers}, limit=2))
    Worker(services).run_until_idle()
    assert submission_of(services, identifier).coverage == pytest.approx(2 / len(QUESTIONS))
    assert runs.get(services, identifier).state == "done"


def test_a_limited_run_is_a_system_of_its_own(services: Services, tmp_path: Path, answers: str) -> None:
    add_benchmark(services, tmp_path / "bench")
    submissions = []
    for changes, limit in (({}, None), ({}, 2), ({"k": "3"}, len(QUESTIONS))):
        plan = RunPlan({"answerer": answers} | changes, limit=limit, publish=True)
        identifier = runs.start(services, "attribute-bm25", "small", plan)
        Worker(services).run_until_idle()
        submissions.append(submission_of(services, identifier))
    with services.database.reading() as session:
        names = [session.get_one(System, each.system_id).name for each in submissions]
        shown = {row.entry.submission: row.entry.system for row in rows(session, "small").rows}
    file = "answerer=answers.jsonl"
    assert names[:2] == [f"Attribute-BM25 ({file})", f"Attribute-BM25 (first 2, {file})"]
    assert "first" not in names[2], "a limit that leaves nothing out is none"
    assert shown[submissions[0].id] == names[0]


def test_the_same_predictions_are_not_entered_twice(services: Services, tmp_path: Path, answers: str) -> None:
    add_benchmark(services, tmp_path / "bench")
    first, again = (runs.start(services, "attribute-bm25", "small", RunPlan({"answerer": answers})) for _ in range(2))
    Worker(services).run_until_idle()
    second = runs.get(services, again)
    assert (second.state, second.submission_id) == ("done", submission_of(services, first).id)
    assert "exactly this content" in (second.reason or "")


def test_a_team_runs_under_its_own_name_and_quota(services: Services, tmp_path: Path, answers: str) -> None:
    add_benchmark(services, tmp_path / "bench")
    team = add_team(services)
    identifier = runs.start(services, "attribute-bm25", "small", RunPlan({"answerer": answers}), team_id=team)
    Worker(services).run_until_idle()
    with services.database.reading() as session:
        entered = session.get(Submission, runs.get(services, identifier).submission_id)
        assert entered is not None
        assert (entered.system.team_id, entered.system.reference) == (team, False)


def test_answers_are_kept_by_content_and_leave_no_path(services: Services, tmp_path: Path, answers: str) -> None:
    """A worker elsewhere, or a resumed run months later, finds the very answers; nobody reads our folders' names."""
    add_benchmark(services, tmp_path / "bench")
    identifier = runs.start(services, "attribute-bm25", "small", RunPlan({"answerer": answers}))
    Path(answers.removeprefix("answers:")).unlink()
    Worker(services).run_until_idle()
    row = runs.get(services, identifier)
    assert (row.state, row.details["answered"]) == ("done", 5)
    digest = hashlib.sha256(CONTENT.encode()).hexdigest()
    assert row.plan["changes"] == {"answerer": f"answers:answers.jsonl@{digest}"}
    assert row.details["configuration"]["answerer"] == f"answers:answers.jsonl@{digest}"
    assert str(tmp_path) not in json.dumps([row.plan, row.details])


def test_answers_stay_as_long_as_a_run_rests_on_them(services: Services, tmp_path: Path, answers: str) -> None:
    add_benchmark(services, tmp_path / "bench")
    team, digest = add_team(services), hashlib.sha256(CONTENT.encode()).hexdigest()
    runs.start(services, "attribute-bm25", "small", RunPlan({"answerer": answers}), team_id=team)
    assert drop_unused(services, [digest]) == 0
    assert delete_team(services, team).blobs == 1
    assert not services.blobs.exists(digest)


@pytest.mark.parametrize(
    ("content", "told"),
    [("", "holds no answers"), ("not json", "line 1"), (CONTENT + CONTENT.replace("Oslo", "Bergen"), "another answer")],
)
def test_a_bad_file_of_answers_is_told_before_anything_is_queued(
    services: Services, tmp_path: Path, answers: str, content: str, told: str
) -> None:
    add_benchmark(services, tmp_path / "bench")
    Path(answers.removeprefix("answers:")).write_text(content)
    with pytest.raises(InvalidInput, match=told):
        runs.start(services, "attribute-bm25", "small", RunPlan({"answerer": answers}))
    with pytest.raises(InvalidInput, match="cannot be read"):
        runs.start(services, "attribute-bm25", "small", RunPlan({"answerer": f"answers:{tmp_path}"}))
    with services.database.reading() as session:
        assert session.scalars(select(RunRow)).all() == []


def test_a_plan_of_an_earlier_version_still_runs() -> None:
    plan = RunPlan.kept(asdict(RunPlan({"k": "3"})) | {"max_new_tokens": 7})
    assert plan.config("Small-RTR").max_new_tokens == 7


def test_what_cannot_run_is_told_at_once(services: Services, tmp_path: Path, answers: str) -> None:
    add_benchmark(services, tmp_path / "bench")
    for name, plan, error in [
        ("RTR-10", RunPlan(), InvalidInput),
        ("RTR-99", RunPlan(), NotFound),
        ("attribute-bm25", RunPlan({"answerer": answers}, limit=0), InvalidInput),
        ("attribute-bm25", RunPlan({"answerer": answers, "colour": "red"}), InvalidInput),
    ]:
        with pytest.raises(error):
            runs.start(services, name, "small", plan)
    with pytest.raises(NotFound):
        runs.start(services, "attribute-bm25", "nowhere", RunPlan({"answerer": answers}))
    with services.database.reading() as session:
        assert session.scalars(select(Job)).all() == session.scalars(select(RunRow)).all() == []


def test_a_run_that_fails_says_why_and_can_go_on(services: Services, tmp_path: Path, answers: str) -> None:
    add_benchmark(services, tmp_path / "bench")
    identifier = runs.start(services, "attribute-bm25", "small", RunPlan({"answerer": answers}, seconds=600))
    services.blobs.delete(hashlib.sha256(CONTENT.encode()).hexdigest())
    Worker(services).run_until_idle()
    failed = runs.get(services, identifier)
    assert failed.state == "failed"
    assert "answers.jsonl is not stored here" in (failed.reason or "")
    services.blobs.put(io.BytesIO(CONTENT.encode()))
    runs.resume(services, identifier)
    assert runs.get(services, identifier).plan["seconds"] == 600, "what bounded it bounds it still"
    Worker(services).run_until_idle()
    assert runs.get(services, identifier).state == "done"


SLOW = """
import sys, time
from core.settings import Settings
from server.bootstrap import build
from server.worker import Worker
import systems.answerers as answerers
real, asked = answerers.FromFile.answer_all, []
def slow(self, questions):
    asked.append(questions)
    if len(asked) > 2:
        time.sleep(600)
    return real(self, questions)
answerers.FromFile.answer_all = slow
answerers.FromFile.batch = 1
Worker(build(Settings(judge="token-overlap", data_dir=sys.argv[1], database_url=sys.argv[2], lease_seconds=1))).run()
"""


def test_a_killed_run_goes_on_where_it_was(services: Services, tmp_path: Path, answers: str) -> None:
    add_benchmark(services, tmp_path / "bench")
    identifier = runs.start(services, "attribute-bm25", "small", RunPlan({"answerer": answers}))
    url, data = services.settings.resolved_database_url, services.settings.data_dir
    worker = subprocess.Popen([sys.executable, "-c", SLOW, data, url], env=os.environ | {"PYTHONPATH": "."})
    outputs = Path(data) / "runs" / identifier / "outputs.jsonl"
    end = time.monotonic() + 200
    while not (outputs.is_file() and outputs.read_bytes().count(b"\n") >= 3):
        assert worker.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
    worker.send_signal(signal.SIGKILL)
    worker.wait(60)
    kept = outputs.read_bytes().rpartition(b"\n")[0]
    while runs.get(services, identifier).state != "done":
        assert time.monotonic() < end
        Worker(services).run_until_idle()
        time.sleep(0.1)
    done = runs.get(services, identifier)
    assert done.details["resumed"] == 2
    assert done.details["answered"] == 5
    assert outputs.read_bytes().startswith(kept)
