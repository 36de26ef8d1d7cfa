"""Loads the demo's editing benchmark behind the first page: passages, entries, recorded runs, synthetic ratings."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy.orm import Session

from core.benchmark import NewBenchmark
from core.errors import Conflict
from core.tables import RunRow, Submission
from core.tables.base import utc_now
from core.tracks import EDITING
from server.bootstrap import Services
from server.demo.files import DATA
from server.demo.load import apply_ratings, entered, team_of
from server.runs import TEAM, RunPlan
from submissions.intake import Intake, SystemCard
from systems import catalog

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


def load(services: Services) -> int | None:
    """Bring all of it in; returns how many entries now wait for a worker.

    None, with nothing changed, where an earlier version of it was loaded: its data is served as it is.
    """
    try:
        services.benchmarks.add(NEW)
    except Conflict:
        return None
    intake = services.intake.unlimited()
    told: dict[str, Any] = yaml.safe_load((FOLDER / "entries" / "entries.yaml").read_text("utf-8"))
    added = sum(_enter(services, intake, entry, FOLDER / "entries") for entry in told["entries"])
    for path in sorted((FOLDER / "runs").glob("*.json")):
        provenance = json.loads(path.read_text("utf-8"))
        added += _enter(services, intake, recorded(provenance), path.parent, provenance)
    apply_ratings(services, BENCHMARK, gzip.decompress((FOLDER / "ratings.csv.gz").read_bytes()))
    return added


def recorded(provenance: dict[str, Any]) -> dict[str, Any]:
    """A recorded run in the fields of `entries.yaml`."""
    config = catalog.find(provenance["system"])
    return {
        "file": f"{config.name}.jsonl", "team": TEAM, "system": config.name, "architecture": config.architecture,
        "supervision": config.supervision, "uses_autoais": config.uses_autoais,
        "description": f"{config.title}. {config.notes} A real run, recorded on {provenance['date']}; "
        f"to run it again: {provenance['command']}",
    }  # fmt: skip


def _enter(
    services: Services, intake: Intake, entry: dict[str, Any], folder: Path, provenance: dict[str, Any] | None = None
) -> bool:
    team_id = team_of(services, entry["team"])
    if entered(services, BENCHMARK, team_id, entry["system"]):
        return False
    card = SystemCard(
        name=entry["system"],
        architecture=entry["architecture"],
        supervision=entry["supervision"],
        description=entry["description"],
        uses_autoais=entry["uses_autoais"],
    )

    def finish(session: Session, submission: Submission) -> None:
        if provenance is not None:
            session.add(_run(services, submission, team_id, folder, provenance))

    with (folder / entry["file"]).open("rb") as stream, suppress(Conflict):
        intake.accept(team_id, BENCHMARK, card, stream, entry["file"], publish=True, reference=True, finish=finish)
        return True
    return False


def _run(
    services: Services, submission: Submission, team_id: int, folder: Path, provenance: dict[str, Any]
) -> RunRow:  # fmt: skip
    """The recorded run as one that ended here, so that its steps can be read on the page of each passage."""
    outputs = (folder / f"{provenance['system']}.outputs.jsonl.gz").read_bytes()
    blob = services.blobs.put(BytesIO(gzip.decompress(outputs)))
    now = utc_now()
    return RunRow(
        id=f"recorded-{submission.id}"[:24], team_id=team_id, benchmark_id=BENCHMARK, system=provenance["system"],
        plan=asdict(RunPlan(seed=provenance.get("seed", 0))), state="done", stage="recorded", progress=1.0,
        details=provenance | {"outputs": blob}, submission_id=submission.id, finished_at=now,
    )  # fmt: skip
