"""Systems, their versions (submissions) and the predictions in them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, ForeignKey, Index, String, Text, UniqueConstraint, and_
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column, relationship

from core import states
from core.tables.accounts import Team
from core.tables.base import Base, utc_now


class System(Base):
    """A team's system; what is said about it applies to all its versions."""

    __tablename__ = "system"
    __table_args__ = (UniqueConstraint("team_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("team.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(120))
    architecture: Mapped[str] = mapped_column(String(40))
    supervision: Mapped[str] = mapped_column(String(120), default="")
    description: Mapped[str] = mapped_column(Text, default="")
    links: Mapped[list[str]] = mapped_column(default=list)
    uses_autoais: Mapped[bool] = mapped_column(default=False)
    size: Mapped[float | None]
    """Parameters in billions, over all models that it runs; None where its team did not say."""
    reference: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)

    team: Mapped[Team] = relationship()


class Submission(Base):
    """One accepted file of predictions: a version of a system on a benchmark."""

    __tablename__ = "submission"
    __table_args__ = (
        UniqueConstraint("system_id", "benchmark_id", "version"),
        Index("ix_submission_benchmark_digest", "benchmark_id", "digest"),
    )

    id: Mapped[str] = mapped_column(String(24), primary_key=True)
    system_id: Mapped[int] = mapped_column(ForeignKey("system.id", ondelete="CASCADE"))
    benchmark_id: Mapped[str] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"))
    version: Mapped[int]
    digest: Mapped[str] = mapped_column(String(64))
    """sha256 of the canonical predictions: equal for equal content in any file type."""
    file_blob: Mapped[str] = mapped_column(String(64))
    file_name: Mapped[str] = mapped_column(String(255))
    report: Mapped[dict[str, Any]]
    coverage: Mapped[float]
    state: Mapped[str] = mapped_column(String(16), default=states.QUEUED)
    """One of `core.states.STATES`."""
    stage: Mapped[str] = mapped_column(String(120), default="waiting for a worker")
    progress: Mapped[float] = mapped_column(default=0.0)
    reason: Mapped[str | None] = mapped_column(Text)
    evaluation_id: Mapped[int | None] = mapped_column(ForeignKey("evaluation.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    published_at: Mapped[datetime | None]
    withdrawn_at: Mapped[datetime | None]

    system: Mapped[System] = relationship()

    @hybrid_property
    def published(self) -> bool:
        """Its team shows it, whether or not it is scored yet."""
        return self.published_at is not None and self.withdrawn_at is None

    @published.inplace.expression
    @classmethod
    def _published(cls) -> ColumnElement[bool]:
        return and_(cls.published_at.is_not(None), cls.withdrawn_at.is_(None))

    @hybrid_property
    def on_board(self) -> bool:
        """Everybody may see it: published, not withdrawn and evaluated. The board itself shows each system's latest."""
        return self.published and self.evaluation_id is not None

    @on_board.inplace.expression
    @classmethod
    def _on_board(cls) -> ColumnElement[bool]:
        return and_(cls.published, cls.evaluation_id.is_not(None))


class PredictionRow(Base):
    """One answered question of a submission."""

    __tablename__ = "prediction"
    __table_args__ = {"sqlite_with_rowid": False}

    submission_id: Mapped[str] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    answer: Mapped[str] = mapped_column(Text)
    attribution: Mapped[str] = mapped_column(Text)
    passage_id: Mapped[str | None] = mapped_column(Text)
