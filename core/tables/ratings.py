"""Human ratings: batches, single ratings, sheets to rate, raters left out; labels are derived, never stored."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from core.tables.base import Base, utc_now


class RatingSheet(Base):
    """Triples drawn for rating, and how: each row has the probability with which it was drawn."""

    __tablename__ = "rating_sheet"

    id: Mapped[int] = mapped_column(primary_key=True)
    benchmark_id: Mapped[str] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"), index=True)
    method: Mapped[str] = mapped_column(String(16))
    """all, random or stratified."""
    seed: Mapped[int]
    population: Mapped[int]
    """How many unrated triples it was drawn from."""
    submissions: Mapped[list[str]]
    author: Mapped[str] = mapped_column(String(80))
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class SheetRow(Base):
    """One triple of a sheet."""

    __tablename__ = "rating_sheet_row"
    __table_args__ = (UniqueConstraint("sheet_id", "triple"),)

    sheet_id: Mapped[int] = mapped_column(ForeignKey("rating_sheet.id", ondelete="CASCADE"), primary_key=True)
    row: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    triple: Mapped[bytes] = mapped_column(LargeBinary(16))
    position: Mapped[int]
    answer: Mapped[str] = mapped_column(Text)
    passage_id: Mapped[str] = mapped_column(Text)
    stratum: Mapped[str] = mapped_column(String(40), default="")
    probability: Mapped[float]


class RatingBatch(Base):
    """Ratings that came together: a file, or what raters answered on the pages to one sheet.

    They count from `applied_at` (null while raters are at work) until `revoked_at`; the rows stay for ever.
    """

    __tablename__ = "rating_batch"

    id: Mapped[int] = mapped_column(primary_key=True)
    benchmark_id: Mapped[str] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"), index=True)
    sheet_id: Mapped[int | None] = mapped_column(ForeignKey("rating_sheet.id"), index=True)
    file_digest: Mapped[str] = mapped_column(String(64))
    file_name: Mapped[str] = mapped_column(String(255), default="")
    author: Mapped[str] = mapped_column(String(80))
    note: Mapped[str] = mapped_column(Text, default="")
    synthetic: Mapped[bool] = mapped_column(default=False)
    qualification: Mapped[bool] = mapped_column(default=False, server_default=false())
    """Its ratings measure the raters against known answers and make no labels."""
    splitter: Mapped[str | None] = mapped_column(String(80))
    """What numbered the sentences that it rates: `core.sentences.splitter`. Null where it rates none."""
    opened_at: Mapped[datetime] = mapped_column(default=utc_now)
    applied_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    revoked_by: Mapped[str | None] = mapped_column(String(80))


class RatingRow(Base):
    """One rater's word on one triple, or one pre-aggregated label (`rater` is then empty)."""

    __tablename__ = "rating"
    __table_args__ = (
        UniqueConstraint("batch_id", "triple", "rater"),
        Index("ix_rating_benchmark_triple", "benchmark_id", "triple"),
        Index("ix_rating_benchmark_near", "benchmark_id", "near"),
        Index("ix_rating_benchmark_rater", "benchmark_id", "rater"),
    )

    batch_id: Mapped[int] = mapped_column(ForeignKey("rating_batch.id", ondelete="CASCADE"), primary_key=True)
    row: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    benchmark_id: Mapped[str] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"))
    triple: Mapped[bytes] = mapped_column(LargeBinary(16))
    """Key of (question, answer, passage id) after NFC and trimming: `core.text.triple_key`."""
    near: Mapped[bytes] = mapped_column(LargeBinary(16))
    """The same with the SQuAD-normalised answer: `core.text.near_key`."""
    position: Mapped[int]
    answer: Mapped[str] = mapped_column(Text)
    passage_id: Mapped[str] = mapped_column(Text)
    rater: Mapped[str] = mapped_column(String(80))
    """A pseudonym."""
    interpretable: Mapped[bool | None]
    supported: Mapped[bool | None]
    positive: Mapped[bool]
    known: Mapped[bool | None]
    """The known answer, in a qualification batch."""
    system: Mapped[str] = mapped_column(Text, default="")
    note: Mapped[str] = mapped_column(Text, default="")
    rated_at: Mapped[str | None] = mapped_column(Text)


class RaterExclusion(Base):
    """A rater whose ratings a maintainer leaves out of a benchmark's labels until `restored_at`."""

    __tablename__ = "rater_exclusion"
    __table_args__ = (Index("ix_rater_exclusion_benchmark_rater", "benchmark_id", "rater"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    benchmark_id: Mapped[str] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"))
    rater: Mapped[str] = mapped_column(String(80))
    reason: Mapped[str] = mapped_column(Text, default="")
    excluded_by: Mapped[str] = mapped_column(String(80))
    excluded_at: Mapped[datetime] = mapped_column(default=utc_now)
    restored_by: Mapped[str | None] = mapped_column(String(80))
    restored_at: Mapped[datetime | None]


class RaterSalt(Base):
    """The installation's one secret behind raters' pseudonyms."""

    __tablename__ = "rater_salt"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    salt: Mapped[bytes] = mapped_column(LargeBinary(16))
