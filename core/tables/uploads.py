"""Files that arrive in pieces."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from core.tables.base import Base, utc_now


class Upload(Base):
    """A file on its way: announced with its size, then sent piece by piece, then submitted."""

    __tablename__ = "upload"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("team.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(255))
    size: Mapped[int] = mapped_column(BigInteger)
    received: Mapped[int] = mapped_column(BigInteger, default=0)
    created_at: Mapped[datetime] = mapped_column(default=utc_now, index=True)


class UploadPart(Base):
    """A piece of a file, kept as a blob until the file is submitted."""

    __tablename__ = "upload_part"

    upload_id: Mapped[str] = mapped_column(ForeignKey("upload.id", ondelete="CASCADE"), primary_key=True)
    start: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    blob: Mapped[str] = mapped_column(String(64), index=True)
