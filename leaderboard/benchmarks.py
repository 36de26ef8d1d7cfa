"""The benchmarks a visitor can choose from."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.tables import BenchmarkRow


def choices(session: Session, track: str | None = None) -> list[tuple[str, str]]:
    """(title, id) of every benchmark of a track, or of all tracks, oldest first."""
    query = select(BenchmarkRow.title, BenchmarkRow.id).order_by(BenchmarkRow.created_at, BenchmarkRow.id)
    if track is not None:
        query = query.where(BenchmarkRow.track == track)
    return [(title, benchmark_id) for title, benchmark_id in session.execute(query)]
