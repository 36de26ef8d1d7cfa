"""Loads the demo benchmark, its synthetic ratings and its entries, each through the door that a stranger's goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from typing import Any

import yaml
from sqlalchemy import select

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


def load(services: Services, tell: Callable[[str], None] = lambda step: None) -> int:
    """Bring in what is not there yet; returns how many entries were added and now wait for a worker."""
    tell("the benchmark")
    services.benchmarks.add(NEW)
    tell("synthetic ratings")
    _apply_ratings(services)
    entries: list[dict[str, Any]] = yaml.safe_load((DATA / "entries" / "entries.yaml").read_text("utf-8"))["entries"]
    entries += recorded.entries()
    # The reference entries are ours, so a team's daily limit is not spent on them.
    intake = replace(services.intake, settings=replace(services.settings, submissions_per_day=0))
    added = 0
    for entry in entries:
        tell(entry["system"])
        added += _enter(services, intake, entry)
    return added


def _apply_ratings(services: Services) -> None:
    with services.database.reading() as session:
        there = session.scalar(select(RatingBatch.id).where(RatingBatch.benchmark_id == BENCHMARK).limit(1))
    if there is not None:
        return
    data = (DATA / "ratings.csv").read_bytes()
    note = "Simulated raters; no person rated anything (server/demo/README.md)."
    services.ratings.apply(BENCHMARK, BytesIO(data), "ratings.csv", author="demo", note=note, synthetic=True)


def _enter(services: Services, intake: Intake, entry: dict[str, Any]) -> bool:
    team_id = _team(services, entry["team"])
    if _entered(services, team_id, entry["system"]):
        return False
    card = SystemCard(
        name=entry["system"],
        architecture=entry["architecture"],
        supervision=entry["supervision"],
        description=entry["description"],
        uses_autoais=entry["uses_autoais"],
    )
    with (DATA / entry.get("folder", "entries") / entry["file"]).open("rb") as stream:
        intake.accept(team_id, BENCHMARK, card, stream, entry["file"], publish=True, reference=True)
    return True


def _entered(services: Services, team_id: int, system: str) -> bool:
    """True if the system has an entry, be it a withdrawn one: what a maintainer took away stays away."""
    query = (
        select(Submission.id)
        .join(System)
        .where(System.team_id == team_id, System.name == system, Submission.benchmark_id == BENCHMARK)
    )
    with services.database.reading() as session:
        return session.scalar(query.limit(1)) is not None


def _team(services: Services, name: str) -> int:
    try:
        with services.database.transaction() as session:
            return auth.add_team(session, name).id
    except Conflict:
        with services.database.reading() as session:
            return session.scalars(select(Team.id).where(Team.name == name)).one()
