"""EM and F1 of five real systems on NQ-Open equal figures from an independent implementation."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from core.records import Item, Prediction, Question
from scorer import metrics

SYSTEMS = ("DPR", "EMDR2", "FiD-KD", "FiD", "R2D2")


@pytest.mark.realdata
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("key", ["em", "f1", "em_compat", "f1_compat"])
def test_scores_equal_the_expected_ones(shared_data: Path, system: str, key: str) -> None:
    rows = [json.loads(line) for line in (shared_data / "nq_open/NQ-open.dev.jsonl").open()]
    said = {r["question"]: r["prediction"] for r in map(json.loads, (shared_data / f"answers/{system}.jsonl").open())}
    items = [
        Item(
            Question(at, str(at), row["question"], tuple(row["answer"])),
            Prediction(at, said[row["question"]], "", None),
        )
        for at, row in enumerate(rows)
    ]
    measured = metrics.load(key).measure(items)
    expected = json.loads((shared_data / "answers/expected_em_f1.json").read_text())[system][key]
    assert len(items) == 3610
    assert 100 * math.fsum(measured.values) / len(items) == pytest.approx(expected, abs=1e-6)


@pytest.mark.realdata
def test_a_file_of_blanks_scores_zero_and_the_public_metric_does_not(shared_data: Path) -> None:
    rows = [json.loads(line) for line in (shared_data / "nq_open/NQ-open.dev.jsonl").open()]
    items = [
        Item(Question(at, str(at), row["question"], tuple(row["answer"])), Prediction(at, " ", "", None))
        for at, row in enumerate(rows)
    ]
    means = {key: 100 * math.fsum(metrics.load(key).measure(items).values) / len(items) for key in ("em", "em_compat")}
    assert means["em"] == 0
    assert round(means["em_compat"], 3) == 0.111
