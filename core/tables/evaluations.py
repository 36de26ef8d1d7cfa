"""Evaluations: what scoring one content under one signature gave."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from core.tables.base import Base, utc_now


class EvaluationRow(Base):
    """One evaluation, unique by (benchmark, digest of the predictions, signature)."""

    __tablename__ = "evaluation"
    __table_args__ = (UniqueConstraint("benchmark_id", "digest", "signature"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    benchmark_id: Mapped[str] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"))
    digest: Mapped[str] = mapped_column(String(64))
    signature: Mapped[str] = mapped_column(String(500))
    judge: Mapped[str] = mapped_column(String(300))
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class ScoreRow(Base):
    """One published number of an evaluation."""

    __tablename__ = "score"

    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluation.id", ondelete="CASCADE"), primary_key=True)
    metric: Mapped[str] = mapped_column(String(40), primary_key=True)
    value: Mapped[float | None]
    n: Mapped[int]
    low: Mapped[float | None]
    high: Mapped[float | None]
    se: Mapped[float | None]
    method: Mapped[str] = mapped_column(String(40))
    signature: Mapped[str] = mapped_column(String(500))
    reason: Mapped[str | None] = mapped_column(Text)
    details: Mapped[dict[str, Any]]


class ValuesRow(Base):
    """A metric's values per question, packed: little-endian float64, NaN outside its denominator, zlib."""

    __tablename__ = "metric_values"

    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluation.id", ondelete="CASCADE"), primary_key=True)
    metric: Mapped[str] = mapped_column(String(40), primary_key=True)
    packed: Mapped[bytes] = mapped_column(LargeBinary)
