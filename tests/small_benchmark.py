"""A benchmark of five questions and four passages that tests score by hand."""

from __future__ import annotations

import io
import json
from pathlib import Path

from core.benchmark import Benchmark, NewBenchmark
from core.tables import Submission, Team
from server.bootstrap import Services
from submissions.intake import SystemCard

WIKI = "http://en.wikipedia.org/wiki/"
OSLO, ROME, NILE, EMPTY = (f"{WIKI}{page}#{page}#0" for page in ("Oslo", "Rome", "Nile", "Empty"))
PASSAGES = {
    OSLO: "« Oslo » « Oslo » Oslo is the capital of Norway.",
    ROME: "« Rome » « Rome, History » Rome is the capital of Italy,\nand has been since 1871.",
    NILE: "« Nile » « Nile » The Nile flows north for 6,650 km.",
    EMPTY: "« Empty » « Empty » ",
}
QUESTIONS = [
    ("q0", "what is the capital of norway", ["Oslo"]),
    ("q1", "what is the capital of italy", ["Rome", "Roma"]),
    ("q2", "how long is the nile", ["6,650 km"]),
    ("q3", "which grade is the best", ["A+"]),
    ("q4", "what’s the capital of france", ["Paris"]),
]
GOOD = [
    {"question": "what is the capital of norway", "answer": "Oslo", "attribution": OSLO},
    {"question": "what is the capital of italy", "answer": "Roma", "attribution": ROME},
    {"question": "how long is the nile", "answer": "6,650 km", "attribution": NILE},
    {"question": "which grade is the best", "answer": "A", "attribution": "nowhere"},
    {"question": "what's the capital of france", "answer": "", "attribution": ""},
]


def add_benchmark(services: Services, folder: Path, identifier: str = "small", **more: object) -> Benchmark:
    """Write the files and add the benchmark; q0 to q3 are rated."""
    folder.mkdir(parents=True, exist_ok=True)
    questions, corpus, rated = folder / "questions.jsonl", folder / "corpus.jsonl", folder / "rated.txt"
    questions.write_text("".join(json.dumps({"id": i, "question": q, "answer": a}) + "\n" for i, q, a in QUESTIONS))
    corpus.write_text("".join(json.dumps({"id": i, "contents": c}) + "\n" for i, c in PASSAGES.items()))
    rated.write_text("q0\nq1\nwhich grade is the best\nq2\n")
    return services.benchmarks.add(NewBenchmark(identifier, questions, [corpus], rated, **more))  # type: ignore[arg-type]


def add_team(services: Services, name: str = "team") -> int:
    """A new team's id."""
    with services.database.transaction() as session:
        team = Team(name=name)
        session.add(team)
    return team.id


def jsonl(rows: list[dict[str, str]]) -> bytes:
    """Predictions as a JSONL file."""
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def submit(
    services: Services, team_id: int, rows: list[dict[str, str]] = GOOD, system: str = "system", **more: bool
) -> Submission:
    """Send predictions through the one door."""
    card = SystemCard(system, "retrieve-then-read")
    return services.intake.accept(team_id, "small", card, io.BytesIO(jsonl(rows)), "p.jsonl", **more)
