"""The job that keeps the boards of the day."""

from __future__ import annotations

import logging

from sqlalchemy.orm import Session

from core.database import Database
from core.queue import Claim
from leaderboard import snapshots
from server.bootstrap import Services

log = logging.getLogger("aqa.snapshots")
KIND, SUBJECT = "snapshot-boards", "boards"


def execute(services: Services, claim: Claim) -> None:
    """Keep every board that has changed."""
    for benchmark in services.benchmarks.all():
        keep(services.database, benchmark.id)
    with services.database.transaction() as session:
        services.queue.finish(session, claim)


def keep(database: Database, benchmark_id: str) -> snapshots.Taken | None:
    """Keep a benchmark's board if it has changed, and tell which snapshot that made. Raises `NotFound`."""
    with database.transaction() as session:
        made = snapshots.take(session, benchmark_id)
        if made is None:
            return None
        log.info("snapshot %s of %s: %s systems", made.id, benchmark_id, made.systems)
        return snapshots.Taken(made.id, made.taken_at, made.systems, made.rank_by, made.digest)


def failed(_services: Services, _session: Session, _subject: str, _reason: str) -> None:
    """Nobody waits for these jobs: the row keeps the reason, and the next one is due in its time."""
