"""Runs that a budget ends: what they had answered enters as a part, and what a resumed run enters takes its place."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from sqlalchemy import select

from core.errors import Conflict
from core.tables import Submission, System
from leaderboard.board import rows
from server import runs
from server.bootstrap import Services
from server.runs import RunPlan
from server.worker import Worker
from submissions.intake import SystemCard
from systems.answerers import FromFile
from tests.small_benchmark import add_benchmark, add_team


@pytest.fixture
def answers(tmp_path: Path) -> str:
    """The spec of a file with an answer to one of the five questions."""
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"question": "what is the capital of norway", "answer": "Oslo"}) + "\n")
    return f"answers:{path}"


def submission_of(services: Services, run_id: str) -> Submission:
    with services.database.reading() as session:
        return session.get_one(Submission, runs.get(services, run_id).submission_id)


def test_a_budget_leaves_what_there_is_and_can_be_raised(
    services: Services, tmp_path: Path, answers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FromFile, "batch", 1, raising=False)
    add_benchmark(services, tmp_path / "bench")
    plan = RunPlan({"answerer": answers}, seconds=1e-9, publish=True)
    identifier = runs.start(services, "attribute-bm25", "small", plan)
    Worker(services).run_until_idle()
    part = runs.get(services, identifier)
    assert (part.state, part.details["ended"], part.details["answered"]) == ("partial", "out of time", 1)
    first = submission_of(services, identifier)
    runs.resume(services, identifier, seconds=600)
    Worker(services).run_until_idle()
    whole = runs.get(services, identifier)
    assert (whole.state, whole.details["answered"], whole.details["resumed"]) == ("done", 5, 1)
    with services.database.reading() as session:
        part_of, whole_of = (session.get_one(Submission, each) for each in (first.id, whole.submission_id))
        names = [each.system.name for each in (part_of, whole_of)]
        assert "out of time after the first 1 of 5 questions" in part_of.system.description
        assert "out of time" not in whole_of.system.description
        assert [row.entry.submission for row in rows(session, "small").rows] == [whole_of.id]
    file = "answerer=answers.jsonl"
    assert names == [f"Attribute-BM25 (first 1, {file})", f"Attribute-BM25 ({file})"]
    assert names[0] in (part.reason or "")
    with pytest.raises(Conflict):
        runs.resume(services, identifier)


def test_what_a_budget_left_stays_where_no_more_is_answered(
    services: Services, tmp_path: Path, answers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A team's model keeps its name within the 120 characters; what was published by hand is replaced as published."""
    monkeypatch.setattr(FromFile, "batch", 1, raising=False)
    add_benchmark(services, tmp_path / "bench")
    team = add_team(services)
    model = tmp_path / "model"
    entry = asdict(SystemCard("a" * 109 + " " + "b" * 10, "post-hoc-retrieval", links=("https://example.org",)))
    monkeypatch.setattr("server.runs.model.parse", lambda reference: model)
    plan = RunPlan({"answerer": answers}, seconds=1e-9, entry=entry)
    identifier = runs.start(services, "attribute-bm25", "small", plan, team_id=team)
    Worker(services).run_until_idle()
    part = submission_of(services, identifier)
    services.intake.publish(part.id, team)
    for seconds in (1e-9, 600):
        runs.resume(services, identifier, seconds=seconds)
        Worker(services).run_until_idle()
        run = runs.get(services, identifier)
        assert (run.submission_id == part.id) == (seconds < 1)
    with services.database.reading() as session:
        assert [row.entry.submission for row in rows(session, "small").rows] == [run.submission_id]
        names = session.scalars(select(System.name).where(System.team_id == team).order_by(System.id))
        assert list(names) == ["a" * 109 + " (first 1)", "a" * 109 + " " + "b" * 10]


def test_a_part_leaves_the_board_where_the_whole_stands_there_already(
    services: Services, tmp_path: Path, answers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FromFile, "batch", 1, raising=False)
    add_benchmark(services, tmp_path / "bench")
    whole = runs.start(services, "attribute-bm25", "small", RunPlan({"answerer": answers}, publish=True))
    plan = RunPlan({"answerer": answers}, seconds=1e-9, publish=True)
    again = runs.start(services, "attribute-bm25", "small", plan)
    Worker(services).run_until_idle()
    stands = submission_of(services, whole).id
    with services.database.reading() as session:
        assert {row.entry.submission for row in rows(session, "small").rows} > {stands}
    runs.resume(services, again, seconds=600)
    Worker(services).run_until_idle()
    assert submission_of(services, again).id == stands
    with services.database.reading() as session:
        assert [row.entry.submission for row in rows(session, "small").rows] == [stands]


def test_a_budget_of_nothing_enters_nothing_and_says_so(services: Services, tmp_path: Path, answers: str) -> None:
    add_benchmark(services, tmp_path / "bench")
    identifier = runs.start(services, "attribute-bm25", "small", RunPlan({"answerer": answers}, seconds=0))
    Worker(services).run_until_idle()
    row = runs.get(services, identifier)
    assert (row.state, row.submission_id, row.details["answered"]) == ("partial", None, 0)
    assert row.reason == "The run ended out of time before it had answered anything."
    runs.resume(services, identifier, seconds=60)
    Worker(services).run_until_idle()
    assert runs.get(services, identifier).state == "done"
