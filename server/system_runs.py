"""Reference systems over the wire: the catalog as it is told; runs that maintainers start, follow and resume."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import InvalidInput
from core.tables import RunRow, Team
from leaderboard.waiting import entered
from server import runs
from server.bootstrap import Services
from server.runs import RunPlan
from systems import catalog
from systems.config import SystemConfig

_PLAIN = re.compile(r"[A-Za-z0-9][\w.+-]*(/[\w.-]+)?(@[\w./-]+)?", re.ASCII)
"""A number, a name or `owner/name@revision`; a path, a file or an endpoint has a colon or starts otherwise."""
LISTED = 200


def described(config: SystemConfig) -> dict[str, Any]:
    """A system of the catalog with the origin of each component, and what has to be handed in before it can run."""
    shown = ("name", "title", "architecture", "supervision", "uses_autoais", "source", "notes")
    components = {
        field: {"value": value, "origin": config.mark(field), "why": (config.inferred or {}).get(field)}
        for field, value in config.components().items()
    }
    about = {name: getattr(config, name) for name in shown}
    return about | {"components": components, "needs": config.lacks(), "settable": sorted(catalog.reads(config))}


def told(services: Services, benchmark: str = "") -> list[dict[str, Any]]:
    """The catalog; with a benchmark, the systems that can run on it, and whether each has entered something there.

    Raises `NotFound`.
    """
    if not benchmark:
        return [described(config) for config in catalog.catalog().values()]
    track = services.benchmarks.row(benchmark).track
    with services.database.reading() as session:
        there = entered(session, benchmark)
    return [described(config) | {"entered": config.name in there} for config in catalog.able_on(track)]


def start(services: Services, system: str, benchmark: str, changes: Mapping[str, str], queue: str, **plan: Any) -> str:
    """Queue a run; returns its id. What names a place on this machine or another is left to the command line.

    Raises as `runs.start`.
    """
    for field, value in changes.items():
        if value and not _PLAIN.fullmatch(value):
            raise InvalidInput(
                f"{field}={value[:60]!r} names a file, a folder or an endpoint.",
                "Over the wire take a name, a number or owner/name@revision; the rest is for aqa system run.",
            )
    return runs.start(services, system, benchmark, RunPlan(dict(changes), **plan), queue=queue)


def listed(session: Session) -> list[dict[str, Any]]:
    """The newest runs of everybody, newest first."""
    query = select(RunRow, Team.name).join(Team, Team.id == RunRow.team_id)
    newest = query.order_by(RunRow.created_at.desc(), RunRow.id).limit(LISTED)
    return [document(row, team) for row, team in session.execute(newest)]


def one(session: Session, run_id: str) -> dict[str, Any]:
    """One run. Raises `NotFound`."""
    row = runs.found(session, run_id)
    return document(row, session.get_one(Team, row.team_id).name)


def document(row: RunRow, team: str) -> dict[str, Any]:
    """A run as it is told."""
    fields = (
        "id", "system", "benchmark_id", "state", "stage", "progress", "reason", "details", "submission_id",
        "created_at", "finished_at",
    )  # fmt: skip
    changes = row.plan.get("changes", {})
    asked = {"team": team, "changes": changes, "model": changes.get("model"), "limit": row.plan.get("limit")}
    return {name: getattr(row, name) for name in fields} | asked
