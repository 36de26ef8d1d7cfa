"""What happened: the versions of a system, and the audit log as maintainers read it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.tables import AuditEvent, Submission, Team
from server.auth import Identity
from server.bootstrap import Services
from server.entries import Entry, find, shown_to

MOST = 1_000


@dataclass(frozen=True)
class Event:
    """One line of the log; `team` is null where none acted, or the team that did is gone."""

    id: int
    at: datetime
    actor: str
    team: str | None
    team_id: int | None
    token_id: int | None
    action: str
    subject: str
    details: dict[str, Any]


def versions(services: Services, session: Session, who: Identity | None, submission_id: str) -> list[Entry]:
    """The versions of a submission's system that the asker may see, newest first. Raises `NotFound`."""
    find(session, services.queue, who, submission_id)
    one = session.get_one(Submission, submission_id)
    same = (Submission.system_id == one.system_id, Submission.benchmark_id == one.benchmark_id)
    found = session.scalars(select(Submission).where(*same).order_by(Submission.version.desc()))
    return [find(session, services.queue, who, row.id) for row in found if shown_to(row, who)]


def log(session: Session, *, before: int = 0, limit: int = 100, subject: str = "", team: str = "") -> list[Event]:
    """The newest events first, those before an id where one is given; of one subject or by one team."""
    query = select(AuditEvent, Team.name).outerjoin(Team, Team.id == AuditEvent.team_id)
    if before:
        query = query.where(AuditEvent.id < before)
    if subject:
        query = query.where(AuditEvent.subject == subject)
    if team:
        query = query.where(Team.name == team)
    rows = session.execute(query.order_by(AuditEvent.id.desc()).limit(max(1, min(limit, MOST))))
    return [
        Event(row.id, row.at, row.actor, name, row.team_id, row.token_id, row.action, row.subject, row.details)
        for row, name in rows
    ]
