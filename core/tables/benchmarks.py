"""Benchmarks: questions, references, which are rated, exemplars; the corpus lives in its own file."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from core.tables.base import Base, utc_now


class BenchmarkRow(Base):
    """One benchmark; `content_hash` covers everything that scores depend on."""

    __tablename__ = "benchmark"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    title: Mapped[str] = mapped_column(String(200))
    description: Mapped[str] = mapped_column(Text, default="")
    content_hash: Mapped[str] = mapped_column(String(64))
    corpus_digest: Mapped[str] = mapped_column(String(64))
    corpus_size: Mapped[int]
    question_count: Mapped[int]
    rated_count: Mapped[int]
    raters_per_item: Mapped[int] = mapped_column(default=5)
    minimum_coverage: Mapped[float] = mapped_column(default=0.95)
    synthetic: Mapped[bool] = mapped_column(default=False)
    track: Mapped[str] = mapped_column(String(16), default="qa", server_default="qa")
    """A key of `core.tracks.TRACKS`."""
    judge: Mapped[str | None] = mapped_column(String(300))
    """The spec of the judge that a rescore promoted; None for the setting's."""
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class QuestionRow(Base):
    """A question at its fixed position, with its references; in the editing track, a passage with its context."""

    __tablename__ = "question"

    benchmark_id: Mapped[str] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    id: Mapped[str] = mapped_column(String(200))
    text: Mapped[str] = mapped_column(Text)
    references: Mapped[list[str]]
    rated: Mapped[bool]
    type: Mapped[str | None] = mapped_column(String(40))
    context: Mapped[list[str]] = mapped_column(default=list, server_default="[]")
    """The turns before a passage, oldest first; empty for questions."""


class ExemplarRow(Base):
    """A question with answers that systems may learn from; never one that is evaluated."""

    __tablename__ = "exemplar"

    benchmark_id: Mapped[str] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    question: Mapped[str] = mapped_column(Text)
    answers: Mapped[list[str]]
