"""Where entries came from: references to files on the Hub, and what was found in the inbox."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from core.tables.base import Base, utc_now


class SubmissionSource(Base):
    """The pinned address that a submission's file was fetched from."""

    __tablename__ = "submission_source"

    submission_id: Mapped[str] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"), primary_key=True)
    reference: Mapped[str] = mapped_column(Text)
    """`hf://datasets/owner/repo/path@commit`."""


class HubAccount(Base):
    """A user of the Hub whose pull requests to the inbox count as a team's."""

    __tablename__ = "hub_account"

    user: Mapped[str] = mapped_column(String(96), primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("team.id", ondelete="CASCADE"))
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class InboxFile(Base):
    """A file of the inbox that was decided on; the same content at the same path is not looked at again."""

    __tablename__ = "inbox_file"
    __table_args__ = (UniqueConstraint("repo", "path", "content"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    repo: Mapped[str] = mapped_column(String(200))
    path: Mapped[str] = mapped_column(String(500))
    content: Mapped[str] = mapped_column(String(64))
    """The Hub's hash of the file and of the metadata beside it."""
    commit: Mapped[str] = mapped_column(String(40))
    pull_request: Mapped[int | None]
    submission_id: Mapped[str | None] = mapped_column(ForeignKey("submission.id", ondelete="SET NULL"))
    reason: Mapped[str | None] = mapped_column(Text)
    """Why it was refused; None where it became a submission."""
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
