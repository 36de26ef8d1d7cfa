"""Repositories of the Hub-like endpoint: a line of commits over content-addressed blobs."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from core.tables.accounts import Team
from core.tables.base import Base, utc_now


class NamespaceRow(Base):
    """The name that stands for a team in `namespace/name`; given once and kept, so that addresses stay good."""

    __tablename__ = "namespace"

    team_id: Mapped[int] = mapped_column(ForeignKey("team.id", ondelete="CASCADE"), primary_key=True)
    slug: Mapped[str] = mapped_column(String(96), unique=True)


class Repo(Base):
    """One repository; its head is its commit with the highest `seq`."""

    __tablename__ = "repo"
    __table_args__ = (UniqueConstraint("team_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("team.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(96))
    created_at: Mapped[datetime] = mapped_column(default=utc_now)

    team: Mapped[Team] = relationship()


class RepoCommit(Base):
    """A commit; commits of a repository are numbered from 0 without gaps."""

    __tablename__ = "repo_commit"
    __table_args__ = (UniqueConstraint("repo_id", "oid"),)

    repo_id: Mapped[int] = mapped_column(ForeignKey("repo.id", ondelete="CASCADE"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    oid: Mapped[str] = mapped_column(String(40))
    author: Mapped[str] = mapped_column(String(96))
    summary: Mapped[str] = mapped_column(Text)
    description: Mapped[str] = mapped_column(Text, default="")
    by_service: Mapped[bool] = mapped_column(default=False)
    submission_id: Mapped[str | None] = mapped_column(ForeignKey("submission.id", ondelete="SET NULL"), index=True)
    """What the commit became, or whose scored outputs it holds."""
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class RepoEntry(Base):
    """One state of one file: in the tree from commit `added` on, until before commit `removed`."""

    __tablename__ = "repo_entry"
    __table_args__ = (Index("ix_repo_entry_repo_path", "repo_id", "path"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    repo_id: Mapped[int] = mapped_column(ForeignKey("repo.id", ondelete="CASCADE"))
    path: Mapped[str] = mapped_column(String(500))
    added: Mapped[int]
    removed: Mapped[int | None]
    blob: Mapped[str] = mapped_column(String(64))
    """sha256 of the content."""
    oid: Mapped[str] = mapped_column(String(40))
    """Git's hash of the content."""
    size: Mapped[int] = mapped_column(BigInteger)
    """Bytes."""


class RepoUpload(Base):
    """Content sent ahead of its commit; who knows only a digest cannot commit what others have sent."""

    __tablename__ = "repo_upload"

    repo_id: Mapped[int] = mapped_column(ForeignKey("repo.id", ondelete="CASCADE"), primary_key=True)
    blob: Mapped[str] = mapped_column(String(64), primary_key=True)
    oid: Mapped[str] = mapped_column(String(40))
    size: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
