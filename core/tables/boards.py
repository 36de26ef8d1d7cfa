"""Boards as they were: snapshots that are never changed."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from core.tables.base import Base, utc_now


class BoardSnapshot(Base):
    """A benchmark's board at one moment; taken when it differs from the snapshot before."""

    __tablename__ = "board_snapshot"
    __table_args__ = (Index("ix_board_snapshot_benchmark_taken", "benchmark_id", "taken_at"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    benchmark_id: Mapped[str] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"))
    taken_at: Mapped[datetime] = mapped_column(default=utc_now)
    systems: Mapped[int]
    rank_by: Mapped[str | None] = mapped_column(String(120))
    digest: Mapped[str] = mapped_column(String(64))
    """sha256 of `board` as canonical JSON: equal for equal boards."""
    board: Mapped[dict[str, Any]]
    """What `leaderboard.records.Board.to_dict` gave."""
