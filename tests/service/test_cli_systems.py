"""`aqa system`: the catalog, one system with the origin of each choice, and a run from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.settings import Settings
from server.bootstrap import Services
from systems.catalog import catalog
from tests.command_line import Aqa, runner
from tests.small_benchmark import add_benchmark
from tests.small_editing import add_editing


@pytest.fixture
def aqa(settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Aqa:
    return runner(settings, monkeypatch, capsys)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"question": "what is the capital of norway", "answer": "Oslo"}) + "\n")
    return path


def test_the_catalog(aqa: Aqa) -> None:
    assert [each["name"] for each in aqa("system", "list", "--json").json] == list(catalog())
    text = aqa("system", "list").out
    assert all(name in text for name in ("RTR-10", "Post-2", "LLM-as-retriever"))


def test_a_benchmark_lists_what_can_run_on_it(aqa: Aqa, services: Services, tmp_path: Path) -> None:
    add_editing(services, tmp_path / "editing")
    able = [name for name, each in catalog().items() if each.architecture == "research-and-revise"]
    assert [each["name"] for each in aqa("system", "list", "--benchmark", "edit", "--json").json] == able
    text = aqa("system", "list", "--benchmark", "edit").out
    assert "Small-RARR" in text
    assert "RTR-10" not in text


def test_one_system_with_origins(aqa: Aqa) -> None:
    shown = aqa("system", "show", "rtr-10", "--json").json
    assert shown["components"]["P"] == {"value": 1, "origin": "stated", "why": None}
    assert shown["needs"]["reranker"] == "a reranker trained on NQ"
    text = aqa("system", "show", "Post-2").out
    assert "stated" in text
    assert "inferred" in text
    assert aqa("system", "show", "nothing").code == 2


def test_a_run_from_the_command_line(aqa: Aqa, services: Services, tmp_path: Path, answers: Path) -> None:
    add_benchmark(services, tmp_path / "bench")
    assert {each["entered"] for each in aqa("system", "list", "--benchmark", "small", "--json").json} == {False}
    command = ["system", "run", "attribute-bm25", "--benchmark", "small", "--set", f"answerer=answers:{answers}"]
    run = aqa(*command, "--limit", "2", "--publish", "--json").json
    assert (run["state"], run["details"]["answered"]) == ("done", 2)
    assert run["plan"]["changes"]["answerer"].startswith("answers:answers.jsonl@")
    assert run["submission_id"]
    again = aqa(*command, "--set", "k=1")
    assert "done" in again.out
    assert "EM" in again.out
    listed = aqa("system", "runs", "--json").json
    assert {each["id"] for each in listed} >= {run["id"]}
    assert run["id"] in aqa("system", "runs").out


def test_a_run_only_queued(aqa: Aqa, services: Services, tmp_path: Path, answers: Path) -> None:
    add_benchmark(services, tmp_path / "bench")
    command = ["system", "run", "attribute-bm25", "--benchmark", "small", "--set", f"answerer=answers:{answers}"]
    queued = aqa(*command, "--no-wait", "--json").json
    assert (queued["state"], queued["submission_id"]) == ("queued", None)
    assert aqa("system", "resume", queued["id"], "--json").json["state"] == "done"


def test_wrong_uses(aqa: Aqa, services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "bench")
    missing = aqa("system", "run", "RTR-10", "--benchmark", "small")
    assert missing.code == 2
    assert "encoder" in missing.err
    assert aqa("system", "run", "RTR-4", "--benchmark", "small", "--set", "model").code == 2
    assert aqa("system", "run", "RTR-4", "--benchmark", "nowhere", "--model", "a/b@c").code == 2
    assert aqa("system", "resume", "nothing").code == 2
