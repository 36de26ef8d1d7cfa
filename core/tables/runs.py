"""Runs of systems: what was asked for, how far it is, and the submission its predictions became."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from core.tables.base import Base, utc_now


class RunRow(Base):
    """One run of a configured system on a benchmark; its job's subject is this id."""

    __tablename__ = "run"

    id: Mapped[str] = mapped_column(String(24), primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("team.id", ondelete="CASCADE"))
    benchmark_id: Mapped[str] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"), index=True)
    system: Mapped[str] = mapped_column(String(120))
    """The configuration's name in the catalog."""
    plan: Mapped[dict[str, Any]]
    """Changed components, limit, seed, budget, exemplars, judge, and how to enter the predictions."""
    state: Mapped[str] = mapped_column(String(16), default="queued")
    """queued, running, done, partial (the budget ran out) or failed."""
    stage: Mapped[str] = mapped_column(String(120), default="waiting for a worker")
    progress: Mapped[float] = mapped_column(default=0.0)
    reason: Mapped[str | None] = mapped_column(Text)
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)
    """Figures and provenance: signature, versions, times, tokens, counts of remarks."""
    submission_id: Mapped[str | None] = mapped_column(ForeignKey("submission.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    finished_at: Mapped[datetime | None]
