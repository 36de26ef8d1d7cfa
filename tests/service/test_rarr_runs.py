"""RARR as a run: revisions of an editing benchmark, and answers of another, enter by the same door and are scored."""

from __future__ import annotations

import gzip
import json
from functools import partial
from pathlib import Path

import orjson
import pytest
from sqlalchemy import select

from core.errors import InvalidInput
from core.tables import PredictionRow, RevisionRow, RunRow, Submission, System
from server import run_parts, runs
from server.bootstrap import Services
from server.demo import record_runs
from server.runs import RunPlan
from server.worker import Worker
from systems.rarr import build
from systems.rarr.system import EditingSystem
from tests.scripted_editing import StepLLM, asked
from tests.small_benchmark import OSLO, QUESTIONS, add_benchmark
from tests.small_editing import ITEMS, add_editing


def edit(prompt: str) -> str:
    label = "Text" if "\nText: " in prompt[-2_000:] else "Reply"
    new = asked(prompt, label).replace("Sweden", "Norway").replace("'Paris'", "'Oslo'")
    return f" part\nCorrected text: {new}\n\n"


@pytest.fixture
def llm(monkeypatch: pytest.MonkeyPatch) -> StepLLM:
    """A scripted model in place of whatever a configuration names."""
    scripted = StepLLM({
        "questions": " Of which country is Oslo the capital?\n\n", "edit": edit,
        "agreement": " a\nEvidence says: b\nVerdict: disagrees\n\n",
    })  # fmt: skip
    monkeypatch.setattr(run_parts, "load_llm", lambda spec, seed: scripted)
    return scripted


def ended(services: Services, identifier: str) -> RunRow:
    Worker(services).run_until_idle()
    return runs.get(services, identifier)


def test_revisions_enter_by_the_same_door(services: Services, tmp_path: Path, llm: StepLLM) -> None:
    add_editing(services, tmp_path / "bench")
    run = ended(services, runs.start(services, "small-rarr", "edit", RunPlan(publish=True)))
    assert (run.state, run.progress, run.reason) == ("done", 1.0, None)
    with services.database.reading() as session:
        submission = session.get_one(Submission, run.submission_id)
        query = select(RevisionRow).where(RevisionRow.submission_id == submission.id).order_by(RevisionRow.position)
        found = list(session.scalars(query))
        assert submission.state == "scored"
    assert found[0].text == "Oslo is the capital of Norway. It lies by a fjord."
    assert found[0].report[0] == {
        "text": "Oslo is the capital of Norway.", "source": OSLO, "query": "Of which country is Oslo the capital?",
    }  # fmt: skip
    assert [row.text for row in found[1:]] == [item["text"] for item in ITEMS[1:]]
    assert run.details is not None
    assert (run.details["answered"], run.details["attributed"]) == (4, 4)
    kept = services.blobs.open(run.details["outputs"]).read().split(b"\n")
    first = orjson.loads(kept[1])
    assert [step["step"] for step in first["trace"]["steps"]] == [
        "questions", "questions", "search", "evidence", "agreement", "edit", "report",
    ]  # fmt: skip


def test_a_limit_and_a_budget_hold_for_passages_too(
    services: Services, tmp_path: Path, llm: StepLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_editing(services, tmp_path / "bench")
    run = ended(services, runs.start(services, "Small-RARR", "edit", RunPlan(limit=2)))
    assert (run.state, run.details["answered"]) == ("done", 2)  # type: ignore[index]
    monkeypatch.setattr(build, "EditingSystem", partial(EditingSystem, batch=1))
    part = ended(services, runs.start(services, "Small-RARR", "edit", RunPlan(seconds=1e-9)))
    assert (part.state, part.details["answered"]) == ("partial", 1)  # type: ignore[index]
    with services.database.reading() as session:
        names = session.scalars(select(System.name).order_by(System.id)).all()
        assert names == ["Small-RARR (first 2)", "Small-RARR (first 1)"]
        last = session.get_one(Submission, part.submission_id)
        assert last.system.description.endswith("ended out of time after the first 1 of 4 passages.")


def test_answers_to_questions_are_revised(services: Services, tmp_path: Path, llm: StepLLM) -> None:
    add_benchmark(services, tmp_path / "bench")
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"question": QUESTIONS[0][1], "answer": "Paris"}) + "\n")
    plan = RunPlan({"answerer": f"answers:{path}"}, limit=1)
    run = ended(services, runs.start(services, "Small-RARR", "small", plan))
    assert run.state == "done"
    with services.database.reading() as session:
        query = select(PredictionRow.answer, PredictionRow.passage_id)
        found = session.execute(query.where(PredictionRow.submission_id == run.submission_id)).one()
    assert tuple(found) == ("Oslo", OSLO)


def test_what_answers_questions_is_refused_on_passages(services: Services, tmp_path: Path) -> None:
    add_editing(services, tmp_path / "bench")
    with pytest.raises(InvalidInput, match="passages to revise"):
        runs.start(services, "Small-RTR", "edit", RunPlan())
    with pytest.raises(InvalidInput, match="needs its model"):
        runs.start(services, "RARR", "edit", RunPlan())


def test_a_recorded_run_is_kept_as_the_demo_reads_it(services: Services, tmp_path: Path, llm: StepLLM) -> None:
    new, _ = record_runs.place_of("Small-RARR")
    services.benchmarks.add(new)
    assert record_runs.place_of("Small-RTR")[0].id == "demo"
    record_runs.record(services, "Small-RARR", new, tmp_path)
    passages = services.benchmarks.get(new.id).questions
    lines = (tmp_path / "Small-RARR.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == [question.id for question in passages]
    told = json.loads((tmp_path / "Small-RARR.json").read_text())
    assert (told["system"], told["answered"]) == ("Small-RARR", len(passages))
    kept = gzip.decompress((tmp_path / "Small-RARR.outputs.jsonl.gz").read_bytes()).splitlines()
    assert all(orjson.loads(line)["trace"]["steps"] for line in kept)
