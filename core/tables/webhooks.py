"""Addresses that are told when a submission's evaluation ends, and each telling."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from core.tables.base import Base, utc_now


class Webhook(Base):
    """An address of a team's own; `secret` signs what is sent there, so it is kept as it is."""

    __tablename__ = "webhook"

    id: Mapped[int] = mapped_column(primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("team.id", ondelete="CASCADE"), index=True)
    url: Mapped[str] = mapped_column(String(500))
    secret: Mapped[str] = mapped_column(String(80))
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class WebhookDelivery(Base):
    """One message to one address; its job's subject is this id."""

    __tablename__ = "webhook_delivery"

    id: Mapped[int] = mapped_column(primary_key=True)
    webhook_id: Mapped[int] = mapped_column(ForeignKey("webhook.id", ondelete="CASCADE"), index=True)
    event: Mapped[str] = mapped_column(String(40))
    body: Mapped[str] = mapped_column(Text)
    """The JSON that is sent, the same in every attempt."""
    state: Mapped[str] = mapped_column(String(16), default="queued")
    """queued, delivered or failed."""
    attempts: Mapped[int] = mapped_column(default=0)
    reason: Mapped[str | None] = mapped_column(Text)
    """Why the last attempt failed."""
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    finished_at: Mapped[datetime | None]

    webhook: Mapped[Webhook] = relationship()
