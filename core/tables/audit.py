"""Who did what, for ever: rows are added and never changed, which triggers in the database enforce."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from core.tables.base import Base, utc_now


class AuditEvent(Base):
    """One change of state. It holds ids, never names, so that it can outlive a team whose data is deleted."""

    __tablename__ = "audit_event"
    __table_args__ = (Index("ix_audit_event_subject", "subject"), Index("ix_audit_event_team_id", "team_id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(default=utc_now)
    actor: Mapped[str] = mapped_column(String(80))
    """`token`, `visitor`, `service`, or `command line:USER`."""
    team_id: Mapped[int | None]
    """The team of the token; no foreign key, since the log outlives teams."""
    token_id: Mapped[int | None]
    action: Mapped[str] = mapped_column(String(40))
    """What happened, as `submission.published`."""
    subject: Mapped[str] = mapped_column(String(120))
    """The id of what it happened to."""
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)
