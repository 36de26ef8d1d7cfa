"""Loads the demo's editing benchmark behind the first page: passages, entries, recorded runs, synthetic ratings."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy import select
from sqlalchemy.orm import Session

from core.benchmark import NewBenchmark
from core.errors import Conflict
from core.tables import RunRow, Submission, System, Team
from core.tables.base import utc_now
from core.tracks import EDITING
from server.bootstrap import Services
from server.demo import recorded
from server.demo.files import DATA
from server.demo.load import apply_ratings, enter
from server.runs import RunPlan

BENCHMARK = "demo-editing"
FOLDER = DATA / "editing"
NEW = NewBenchmark(
    id=BENCHMARK,
    questions=FOLDER / "passages.jsonl",
    corpus=(DATA / "corpus.jsonl",),
    raters_per_item=3,
    title="Demo: editing",
    description="Synthetic: passages written for this project, with errors put in on purpose; simulated ratings.",
    synthetic=True,
    track=EDITING,
)


def due(services: Services) -> int:
    """How many entries `load` is going to add."""
    told = [(entry["team"], entry["system"]) for entry in _written()]
    told += [(entry["team"], entry["system"]) for _, _, entry in _recorded()]
    held = select(Team.name, System.name).join(System, System.team_id == Team.id).join(Submission)
    with services.database.reading() as session:
        there = {tuple(row) for row in session.execute(held.where(Submission.benchmark_id == BENCHMARK))}
    return sum(each not in there for each in told)


def load(services: Services) -> int | None:
    """Bring all of it in; returns how many entries now wait for a worker.

    None, with nothing changed, where an earlier version of it was loaded: its data is served as it is.
    """
    try:
        services.benchmarks.add(NEW)
    except Conflict:
        return None
    intake = services.intake.unlimited()
    added = sum(enter(services, intake, BENCHMARK, entry, FOLDER / "entries") for entry in _written())
    for folder, provenance, entry in _recorded():
        added += enter(services, intake, BENCHMARK, entry, folder, _finish(services, folder, provenance))
    apply_ratings(services, BENCHMARK, gzip.decompress((FOLDER / "ratings.csv.gz").read_bytes()))
    return added


def _written() -> list[dict[str, Any]]:
    told: dict[str, Any] = yaml.safe_load((FOLDER / "entries" / "entries.yaml").read_text("utf-8"))
    entries: list[dict[str, Any]] = told["entries"]
    return entries


def _recorded() -> Iterator[tuple[Path, dict[str, Any], dict[str, Any]]]:
    """Of each recorded run its folder, what it rested on, and its entry."""
    for path in sorted((FOLDER / "runs").glob("*.json")):
        provenance = json.loads(path.read_text("utf-8"))
        yield path.parent, provenance, recorded.entry(provenance, "jsonl")


def _finish(
    services: Services, folder: Path, provenance: dict[str, Any]
) -> Callable[[Session, Submission], None]:  # fmt: skip
    """Keeps the recorded run as one that ended here, so that its steps can be read on the page of each passage."""

    def finish(session: Session, submission: Submission) -> None:
        outputs = (folder / f"{provenance['system']}.outputs.jsonl.gz").read_bytes()
        blob = services.blobs.put(BytesIO(gzip.decompress(outputs)))
        session.add(
            RunRow(
                id=f"recorded-{submission.id}"[:24], team_id=session.get_one(System, submission.system_id).team_id,
                benchmark_id=BENCHMARK, system=provenance["system"],
                plan=asdict(RunPlan(seed=provenance.get("seed", 0))), state="done", stage="recorded", progress=1.0,
                details=provenance | {"outputs": blob}, submission_id=submission.id, finished_at=utc_now(),
            )
        )  # fmt: skip

    return finish
