"""A benchmark of four passages to edit, and entries for it, that tests score by hand."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from core.benchmark import Benchmark, NewBenchmark
from core.tables import Submission
from server.bootstrap import Services
from submissions.intake import SystemCard
from tests.small_benchmark import PASSAGES

ITEMS: list[dict[str, Any]] = [
    {"id": "p0", "text": "Oslo is the capital of Sweden. It lies by a fjord.", "type": "geography"},
    {"id": "p1", "text": "The Nile flows south.", "context": ["Tell me of the Nile.", "Gladly."]},
    {"id": "p2", "text": "Rome has been the capital since 1861."},
    {"id": "p3", "text": "Paris is old."},
]
GOOD: list[dict[str, Any]] = [
    {
        "id": "p0",
        "revised": "Oslo is the capital of Norway. It lies by a fjord.",
        "report": [
            {"text": "Oslo is the capital of Norway.", "source": "http://x/Oslo", "query": "Whose capital is Oslo?"},
            {"text": "Oslo lies by a fjord.", "url": "http://x/Fjord", "query": "Where does Oslo lie?"},
        ],
    },
    {"id": "p1", "revised": "The Nile flows north.", "report": [{"text": "The Nile flows north for 6,650 km."}]},
    {"id": "p2", "revised": "Rome has been the capital since 1861.", "report": []},
]  # fmt: skip


def add_editing(services: Services, folder: Path, identifier: str = "edit", **more: Any) -> Benchmark:
    """Write the files and add the benchmark; p0 to p2 are rated."""
    folder.mkdir(parents=True, exist_ok=True)
    items, corpus, rated = folder / "passages.jsonl", folder / "corpus.jsonl", folder / "rated.txt"
    items.write_bytes(jsonl(ITEMS))
    corpus.write_text("".join(json.dumps({"id": i, "contents": c}) + "\n" for i, c in PASSAGES.items()))
    rated.write_text("p0\np1\np2\n")
    return services.benchmarks.add(NewBenchmark(identifier, items, [corpus], rated, track="editing", **more))


def jsonl(rows: list[dict[str, Any]]) -> bytes:
    """Rows as a JSONL file."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def send(
    services: Services, team_id: int, rows: list[dict[str, Any]] = GOOD, system: str = "editor", **more: bool
) -> Submission:
    """Send revisions through the one door."""
    card = SystemCard(system, "retrieve-then-read")
    return services.intake.accept(team_id, "edit", card, io.BytesIO(jsonl(rows)), "e.jsonl", **more)
