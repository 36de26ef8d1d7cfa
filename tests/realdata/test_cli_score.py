"""`aqa score` on the answers of five real systems: file in, the expected EM and F1 out in `scores.json`."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from core.settings import Settings
from tests.command_line import Aqa, runner

pytestmark = pytest.mark.realdata
SYSTEMS = ("DPR", "EMDR2", "FiD", "FiD-KD", "R2D2")


@pytest.fixture
def aqa(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Aqa:
    return runner(
        Settings(judge="token-overlap", data_dir=str(tmp_path / "data"), database_url=sqlite_url), monkeypatch, capsys
    )


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def test_five_systems_from_file_to_scores(aqa: Aqa, shared_data: Path, tmp_path: Path) -> None:
    added = aqa(
        "benchmark", "add", "--id", "nq", "--questions", shared_data / "nq_open" / "NQ-open.dev.jsonl",
        "--corpus", shared_data / "corpus" / "passages.jsonl",
    )  # fmt: skip
    assert added.code == 0, added.err
    gold = {row["question"]: row["passage_ids"] for row in rows(shared_data / "corpus" / "gold_passages.jsonl")}
    expected = json.loads((shared_data / "answers" / "expected_em_f1.json").read_text())
    for system in SYSTEMS:
        file = tmp_path / f"{system}.jsonl"
        with file.open("w") as stream:
            for row in rows(shared_data / "answers" / f"{system}.jsonl"):
                attribution = next(iter(gold.get(row["question"], [])), "")  # type: ignore[arg-type]
                line = {"question": row["question"], "answer": row["prediction"], "attribution": attribution}
                stream.write(json.dumps(line) + "\n")
        command = ("score", file, "--benchmark", "nq", "--judge", "token-overlap", "--out", tmp_path / system, "--json")
        found = aqa(*command).json
        for key, value in expected[system].items():
            block = found["metrics"][key]
            assert abs(100 * block["value"] - value) < 1e-6, (system, key)
            assert block["n"] == 3_610
            assert block["low"] < block["value"] < block["high"]
            assert (block["method"], 0.005 < block["se"] < 0.01) == ("bca", True)
        assert found["report"]["matched"] == 3_610
        assert found["metrics"]["autoais"]["details"]["counts"]["absent_attribution"] > 900
        assert len(rows(tmp_path / system / "examples.jsonl")) == 3_610
    start = time.process_time()
    assert aqa(*command).json == found
    assert time.process_time() - start < 5, "a warm scoring of 3,610 rows"
