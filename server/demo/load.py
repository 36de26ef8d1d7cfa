"""Loads the demo benchmark, its synthetic ratings and its entries, each through the door that a stranger's goes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy import select
from sqlalchemy.orm import Session

from core.benchmark import NewBenchmark
from core.errors import Conflict
from core.tables import RatingBatch, Submission, System, Team
from server import auth
from server.bootstrap import Services
from server.demo import recorded
from server.demo.files import DATA
from submissions.intake import Intake, SystemCard

BENCHMARK = "demo"
NEW = NewBenchmark(
    id=BENCHMARK,
    questions=DATA / "questions.jsonl",
    corpus=(DATA / "corpus.jsonl",),
    rated=DATA / "rated.txt",
    exemplars=DATA / "exemplars.jsonl",
    title="Demo",
    description="A small benchmark written for this project; its entries are stand-ins and its ratings are synthetic.",
    synthetic=True,
)


def load(services: Services, tell: Callable[[str], None] = lambda step: None) -> int | None:
    """Bring in what is not there yet; returns how many entries were added and now wait for a worker.

    None, with nothing changed, where an earlier version of the demo was loaded: benchmarks never change under their
    scores, so its data is served as it is.
    """
    tell("the benchmark")
    try:
        services.benchmarks.add(NEW)
    except Conflict:
        return None
    tell("synthetic ratings")
    apply_ratings(services, BENCHMARK, (DATA / "ratings.csv").read_bytes())
    entries: list[dict[str, Any]] = yaml.safe_load((DATA / "entries" / "entries.yaml").read_text("utf-8"))["entries"]
    entries += recorded.entries()
    intake = services.intake.unlimited()
    added = 0
    for entry in entries:
        tell(entry["system"])
        added += enter(services, intake, BENCHMARK, entry, DATA / entry.get("folder", "entries"))
    return added


def apply_ratings(services: Services, benchmark: str, data: bytes) -> None:
    """Apply a file of simulated ratings, unless the benchmark had ratings before, be they revoked."""
    with services.database.reading() as session:
        there = session.scalar(select(RatingBatch.id).where(RatingBatch.benchmark_id == benchmark).limit(1))
    if there is not None:
        return
    note = "Simulated raters; no person rated anything (server/demo/README.md)."
    with suppress(Conflict):  # another start of the demo was faster
        services.ratings.apply(benchmark, BytesIO(data), "ratings.csv", author="demo", note=note, synthetic=True)


def enter(
    services: Services,
    intake: Intake,
    benchmark: str,
    entry: dict[str, Any],
    folder: Path,
    finish: Callable[[Session, Submission], None] = lambda session, submission: None,
) -> bool:
    """Send an entry in the fields of `entries.yaml`, its file in `folder`; False where the system has one already.

    `finish` runs in the transaction that stores it.
    """
    team_id = team_of(services, entry["team"])
    if entered(services, benchmark, team_id, entry["system"]):
        return False
    card = SystemCard(
        name=entry["system"],
        architecture=entry["architecture"],
        supervision=entry["supervision"],
        description=entry["description"],
        uses_autoais=entry["uses_autoais"],
        size=entry.get("size"),
    )
    with (folder / entry["file"]).open("rb") as stream, suppress(Conflict):  # as above
        intake.accept(team_id, benchmark, card, stream, entry["file"], publish=True, reference=True, finish=finish)
        return True
    return False


def entered(services: Services, benchmark: str, team_id: int, system: str) -> bool:
    """True if the system has an entry, be it a withdrawn one: what a maintainer took away stays away."""
    query = (
        select(Submission.id)
        .join(System)
        .where(System.team_id == team_id, System.name == system, Submission.benchmark_id == benchmark)
    )
    with services.database.reading() as session:
        return session.scalar(query.limit(1)) is not None


def team_of(services: Services, name: str) -> int:
    """The id of the team of that name, added where it is not there."""
    try:
        with services.database.transaction() as session:
            return auth.add_team(session, name).id
    except Conflict:
        with services.database.reading() as session:
            return session.scalars(select(Team.id).where(Team.name == name)).one()
