"""The engine room: jobs with leases, and the judgment cache."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from core.tables.base import Base, utc_now


class Job(Base):
    """A unit of work; claimed by lease, finished under a fencing token, never silently lost."""

    __tablename__ = "job"
    __table_args__ = (Index("ix_job_queue_state", "queue", "state", "priority", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(40))
    subject: Mapped[str] = mapped_column(String(120), index=True)
    parent: Mapped[int | None] = mapped_column(index=True)
    """The job that was split into this one and others."""
    queue: Mapped[str] = mapped_column(String(16), default="cpu")
    priority: Mapped[int] = mapped_column(default=0)
    """Lower is sooner."""
    state: Mapped[str] = mapped_column(String(16), default="queued")
    """queued, running, done, failed or cancelled."""
    attempt: Mapped[int] = mapped_column(default=0)
    fence: Mapped[int] = mapped_column(default=0)
    """Grows with each claim; a finish that carries an older one is refused."""
    not_before: Mapped[datetime] = mapped_column(default=utc_now)
    lease_until: Mapped[datetime | None]
    heartbeat_at: Mapped[datetime | None]
    worker: Mapped[str | None] = mapped_column(String(120))
    reason: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    announced_at: Mapped[datetime | None]
    """When workers were last told of it; a sweep tells them again of what still waits, in case the message was lost."""
    started_at: Mapped[datetime | None]
    """When its last attempt began."""
    finished_at: Mapped[datetime | None]


class PausedQueue(Base):
    """A queue whose jobs wait until it is resumed; what runs already runs on."""

    __tablename__ = "paused_queue"

    queue: Mapped[str] = mapped_column(String(16), primary_key=True)
    since: Mapped[datetime] = mapped_column(default=utc_now)


class Tally(Base):
    """A number that workers count up together, for monitoring."""

    __tablename__ = "tally"

    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    value: Mapped[float] = mapped_column(default=0.0)


class JudgeRow(Base):
    """A judge under one signature; judgments point here instead of repeating the text."""

    __tablename__ = "judge"

    id: Mapped[int] = mapped_column(primary_key=True)
    signature: Mapped[str] = mapped_column(String(300), unique=True)


class JudgmentRow(Base):
    """One judgment, kept for ever and shared by all submissions."""

    __tablename__ = "judgment"
    __table_args__ = {"sqlite_with_rowid": False}

    judge_id: Mapped[int] = mapped_column(ForeignKey("judge.id", ondelete="CASCADE"), primary_key=True)
    pair: Mapped[bytes] = mapped_column(LargeBinary(16), primary_key=True)
    """Hash of premise and hypothesis: `core.text.pair_key`."""
    p: Mapped[float]
    label: Mapped[str] = mapped_column(String(40))
    flags: Mapped[list[str]]
