"""A run's outputs as the file that anybody would send, in the form of the benchmark's track."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from core.benchmark import Benchmark
from core.records import Question
from core.tracks import EDITING, QA
from systems import runner

Line = Callable[[Question, Mapping[str, Any]], dict[str, Any]]


def entry_file(benchmark: Benchmark, result: runner.Run) -> bytes:
    """JSONL by position: a line per answered question, or per revised passage."""
    line = _LINES[benchmark.track]
    outputs = sorted(result.outputs, key=lambda output: output["position"])
    rows = (line(benchmark.questions[output["position"]], output) for output in outputs)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "surrogatepass")


def counted(benchmark: Benchmark, result: runner.Run, total: int) -> str:
    """How far a run is, in words."""
    doing, things = _WORDS[benchmark.track]
    return f"{doing}: {len(result.outputs):,} of {total:,} {things}"


def _prediction(question: Question, output: Mapping[str, Any]) -> dict[str, Any]:
    return {"question": question.text, "answer": output["answer"], "attribution": output["passage_id"] or ""}


def _revision(question: Question, output: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": question.id, "revised": output["text"], "report": output["report"]}


_LINES: dict[str, Line] = {QA: _prediction, EDITING: _revision}
_WORDS = {QA: ("answering", "questions"), EDITING: ("revising", "passages")}
