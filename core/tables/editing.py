"""The editing track: revised passages with their evidence, and what people said of them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from core.tables.base import Base


class RevisionRow(Base):
    """One revised passage of a submission."""

    __tablename__ = "revision"
    __table_args__ = {"sqlite_with_rowid": False}

    submission_id: Mapped[str] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    text: Mapped[str] = mapped_column(Text)
    report: Mapped[list[dict[str, Any]]]
    """Snippets in their order: `text`, `source`, `query`."""


class EditRatingRow(Base):
    """One rater's word on one revision: whether a sentence is attributable to the report, or the intent preserved."""

    __tablename__ = "edit_rating"
    __table_args__ = (
        UniqueConstraint("batch_id", "revision", "sentence", "rater"),
        Index("ix_edit_rating_benchmark_revision", "benchmark_id", "revision"),
    )

    batch_id: Mapped[int] = mapped_column(ForeignKey("rating_batch.id", ondelete="CASCADE"), primary_key=True)
    row: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    benchmark_id: Mapped[str] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"))
    revision: Mapped[bytes] = mapped_column(LargeBinary(16))
    """Key of (position, text, report): `core.text.revision_key`."""
    position: Mapped[int]
    sentence: Mapped[int]
    """From 1 in the order of the text; 0 where the whole text's intent was asked for."""
    rater: Mapped[str] = mapped_column(String(80))
    """A pseudonym."""
    positive: Mapped[bool]
    note: Mapped[str] = mapped_column(Text, default="")


class SheetRevision(Base):
    """A text of a sheet for raters beside its report, and what is asked of it; a copy, since entries come and go."""

    __tablename__ = "rating_sheet_revision"
    __table_args__ = (UniqueConstraint("sheet_id", "revision"),)

    sheet_id: Mapped[int] = mapped_column(ForeignKey("rating_sheet.id", ondelete="CASCADE"), primary_key=True)
    row: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    """The number of the first question asked of it; each question of a sheet has a number."""
    revision: Mapped[bytes] = mapped_column(LargeBinary(16))
    """As in `EditRatingRow`."""
    position: Mapped[int]
    text: Mapped[str] = mapped_column(Text)
    report: Mapped[list[dict[str, Any]]]
    asked: Mapped[list[dict[str, Any]]]
    """`sentence` as in `EditRatingRow`, and where it stands in the text: `start`, `end`."""
