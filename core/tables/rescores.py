"""Scoring anew under another recipe beside what the board shows, and which evaluation was shown when."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from core.tables.base import Base, utc_now


class Rescore(Base):
    """One benchmark's entries under another recipe; at most one of a benchmark is open."""

    __tablename__ = "rescore"

    id: Mapped[int] = mapped_column(primary_key=True)
    benchmark_id: Mapped[str] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"), index=True)
    judge: Mapped[str] = mapped_column(String(300))
    """The spec that loads the judge."""
    recipe: Mapped[str] = mapped_column(String(500))
    """An evaluation's signature without the labels, which differ from entry to entry."""
    released_too: Mapped[bool] = mapped_column(default=False)
    """Whether what rests on the paper's released judgments is judged anew as well."""
    state: Mapped[str] = mapped_column(String(16), default="open")
    """open, promoted or dropped."""
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    ended_at: Mapped[datetime | None]


class RescoreItem(Base):
    """A submission in it; `evaluation_id` is None until it is scored under the new recipe and today's labels."""

    __tablename__ = "rescore_item"

    rescore_id: Mapped[int] = mapped_column(ForeignKey("rescore.id", ondelete="CASCADE"), primary_key=True)
    submission_id: Mapped[str] = mapped_column(
        ForeignKey("submission.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    evaluation_id: Mapped[int | None] = mapped_column(ForeignKey("evaluation.id", ondelete="SET NULL"))
    before_id: Mapped[int | None] = mapped_column(ForeignKey("evaluation.id", ondelete="SET NULL"))
    """What was shown when it was promoted."""
    reason: Mapped[str | None] = mapped_column(Text)
    """Why it could not be scored."""
    left_out: Mapped[bool] = mapped_column(default=False)
    """Promoted without it: it kept its scores, in a column apart."""


class ShownEvaluation(Base):
    """From when on a submission's scores were which evaluation's: the board of a day can be told from it."""

    __tablename__ = "shown_evaluation"

    id: Mapped[int] = mapped_column(primary_key=True)
    submission_id: Mapped[str] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"), index=True)
    evaluation_id: Mapped[int] = mapped_column(ForeignKey("evaluation.id", ondelete="CASCADE"), index=True)
    since: Mapped[datetime] = mapped_column(default=utc_now)
