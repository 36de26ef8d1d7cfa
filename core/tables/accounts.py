"""Teams and their tokens."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, ForeignKey, String, and_, case
from sqlalchemy.orm import Mapped, mapped_column, relationship

from core.tables.base import Base, utc_now


class Team(Base):
    """Whoever submits; a maintainer's team holds tokens with the role `maintainer`."""

    __tablename__ = "team"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(80), unique=True)
    alias: Mapped[str | None] = mapped_column(String(80), unique=True, index=True)
    """What everybody else reads in place of the name until `alias_until`."""
    alias_until: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)

    def shown(self, now: datetime) -> str:
        """The name that the public reads at a time."""
        return self.alias if self.alias and self.alias_until and self.alias_until > now else self.name

    @classmethod
    def shown_name(cls, now: datetime) -> ColumnElement[str]:
        """The same as a column."""
        return case((and_(cls.alias.is_not(None), cls.alias_until > now), cls.alias), else_=cls.name)


class Token(Base):
    """A bearer token; only its sha256 is kept."""

    __tablename__ = "token"

    id: Mapped[int] = mapped_column(primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("team.id", ondelete="CASCADE"), index=True)
    role: Mapped[str] = mapped_column(String(16), default="team")
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    label: Mapped[str] = mapped_column(String(80), default="", server_default="")
    """What its bearer calls it."""
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]

    team: Mapped[Team] = relationship()
