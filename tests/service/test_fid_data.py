"""Training examples for the reader, retrieved from a benchmark's corpus by the command itself."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest

from core.errors import Refused
from server.bootstrap import Services
from systems.training import make_fid_data
from systems.training.loop import read_rows
from systems.training.train_fid import _example
from tests.small_benchmark import NILE, ROME, add_benchmark


def run(monkeypatch: pytest.MonkeyPatch, services: Services, folder: Path, questions: list[dict[str, object]]) -> Path:
    asked, out = folder / "questions.jsonl", folder / "train.jsonl"
    asked.write_text("".join(json.dumps(each) + "\n" for each in questions))
    monkeypatch.setenv("AQA_DATABASE_URL", services.settings.database_url)
    monkeypatch.setenv("AQA_DATA_DIR", services.settings.data_dir)
    command = ["make_fid_data", "--benchmark", "small", "--system", "RTR-4", "--passages", "2"]
    monkeypatch.setattr(sys, "argv", [*command, "--questions", str(asked), "--out", str(out)])
    make_fid_data.main()
    return out


def test_examples_hold_the_best_passages_and_train(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    add_benchmark(services, tmp_path / "files")
    questions = [
        {"question": "since when is rome the capital of italy", "answer": ["1871"]},
        {"question": "xyzzy plugh", "answer": ["nothing"]},
        {"question": "which way does the nile flow", "answer": ["north", "northwards"]},
    ]
    out = run(monkeypatch, services, tmp_path, questions)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["question"], row["answers"]) for row in rows] == [
        (each["question"], each["answer"]) for each in (questions[0], questions[2])
    ]
    assert [row["passages"][0]["id"] for row in rows] == [ROME, NILE]
    assert all(1 <= len(row["passages"]) <= 2 for row in rows)
    assert "2 of 3 questions" in capsys.readouterr().out
    read = read_rows(out, lambda entry: _example(entry, 1, random.Random(0)))
    assert read[0].passages[0].text.startswith("Rome is the capital of Italy")
    assert read[0].passages[0].headings == "Rome, History"


def test_evaluated_questions_are_not_trained_on(services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    add_benchmark(services, tmp_path / "files")
    with pytest.raises(Refused):
        run(monkeypatch, services, tmp_path, [{"question": "How long is the Nile", "answer": ["6,650 km"]}])
