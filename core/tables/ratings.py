"""Human ratings: batches and the single ratings in them; labels are derived, never stored."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from core.tables.base import Base, utc_now


class RatingBatch(Base):
    """One applied file of ratings; revoking keeps the rows and takes them out of every label."""

    __tablename__ = "rating_batch"

    id: Mapped[int] = mapped_column(primary_key=True)
    benchmark_id: Mapped[str] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"), index=True)
    file_digest: Mapped[str] = mapped_column(String(64))
    file_name: Mapped[str] = mapped_column(String(255), default="")
    author: Mapped[str] = mapped_column(String(80))
    note: Mapped[str] = mapped_column(Text, default="")
    synthetic: Mapped[bool] = mapped_column(default=False)
    applied_at: Mapped[datetime] = mapped_column(default=utc_now)
    revoked_at: Mapped[datetime | None]
    revoked_by: Mapped[str | None] = mapped_column(String(80))


class RatingRow(Base):
    """One rater's word on one triple, or one pre-aggregated label (`rater` is then empty)."""

    __tablename__ = "rating"
    __table_args__ = (Index("ix_rating_benchmark_triple", "benchmark_id", "triple"),)

    batch_id: Mapped[int] = mapped_column(ForeignKey("rating_batch.id", ondelete="CASCADE"), primary_key=True)
    row: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    benchmark_id: Mapped[str] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"))
    triple: Mapped[bytes] = mapped_column(LargeBinary(16))
    """Key of (question, answer, passage id) after NFC and trimming: `core.text.triple_key`."""
    position: Mapped[int]
    answer: Mapped[str] = mapped_column(Text)
    passage_id: Mapped[str] = mapped_column(Text)
    rater: Mapped[str] = mapped_column(String(80))
    interpretable: Mapped[bool | None]
    supported: Mapped[bool | None]
    positive: Mapped[bool]
    note: Mapped[str] = mapped_column(Text, default="")
    rated_at: Mapped[str | None] = mapped_column(String(40))
