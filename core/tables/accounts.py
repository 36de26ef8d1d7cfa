"""Teams and their tokens."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column, relationship

from core.tables.base import Base, utc_now


class Team(Base):
    """Whoever submits; a maintainer's team holds tokens with the role `maintainer`."""

    __tablename__ = "team"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(80), unique=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class Token(Base):
    """A bearer token; only its sha256 is kept."""

    __tablename__ = "token"

    id: Mapped[int] = mapped_column(primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("team.id", ondelete="CASCADE"), index=True)
    role: Mapped[str] = mapped_column(String(16), default="team")
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]

    team: Mapped[Team] = relationship()
