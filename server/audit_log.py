"""The audit log as its readers see it: maintainers the whole, a team what it did and what was done to its own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, String, and_, cast, exists, or_, select
from sqlalchemy.orm import Session

from core.errors import InvalidInput
from core.tables import AuditEvent, Repo, RepoCommit, RunRow, Submission, System, Team, Token, Webhook
from server.auth import Identity
from server.lists import MOST

ACTIONS = (
    "benchmark.added", "hub-account.added", "hub-account.removed", "job.cancelled", "job.retried", "queue.paused",
    "queue.resumed", "rater.left-out", "rater.taken-back", "ratings.applied", "ratings.opened", "ratings.revoked",
    "repo.committed", "repo.created", "repo.deleted", "rescore.dropped", "rescore.promoted", "rescore.started",
    "run.failed", "run.queued", "sheet.drawn", "submission.accepted", "submission.failed", "submission.published",
    "submission.queued", "submission.scored",
    "submission.withdrawn", "team.added", "team.deleted", "team.hidden", "team.shown", "token.made", "token.revoked",
    "webhook.added", "webhook.removed",
)  # fmt: skip
"""Every action that stands in the log; docs/accounts.md names the same."""
_HOUSE = "maintainer"
"""Who acted, where a team reads of what another did to its own: only the service's own people can."""


@dataclass(frozen=True)
class Event:
    """One line of the log; `team` is null where none acted, the team that did is gone, or it is not yours to see."""

    id: int
    at: datetime
    actor: str
    team: str | None
    team_id: int | None
    token_id: int | None
    action: str
    subject: str
    details: dict[str, Any]


@dataclass(frozen=True)
class Wanted:
    """Which events: before an id, of a subject, by a team, of an action, and on days from `since` to `until` (UTC)."""

    before: int = 0
    limit: int = 100
    subject: str = ""
    team: str = ""
    action: str = ""
    since: date | None = None
    until: date | None = None


def log(session: Session, wanted: Wanted = Wanted(), who: Identity | None = None) -> list[Event]:
    """The newest events first. `who` None stands for the command line, which reads all, as maintainers do."""
    own = who is not None and not who.maintainer
    if who is not None and own and wanted.team not in ("", who.team):
        return []  # or a team could find out who acts as a maintainer by asking for one name after another
    acted = and_(Team.id == AuditEvent.team_id, Team.created_at <= AuditEvent.at)
    query = _filtered(select(AuditEvent, Team.name).outerjoin(Team, acted), wanted)
    if who is not None and own:
        query = query.where(_of(who.team_id))
    rows = session.execute(query.order_by(AuditEvent.id.desc()).limit(max(1, min(wanted.limit, MOST))))
    return [_event(row, name, who.team_id if who is not None and own else None) for row, name in rows]


def day(text: str) -> date | None:
    """A day as YYYY-MM-DD; None for nothing. Raises `InvalidInput`."""
    try:
        return date.fromisoformat(text.strip()) if text.strip() else None
    except ValueError:
        raise InvalidInput(f"{text[:20]!r} is not a day.", "Write it as YYYY-MM-DD.") from None


def _filtered(query: Select[Any, Any], wanted: Wanted) -> Select[Any, Any]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.before:
        conditions.append(AuditEvent.id < wanted.before)
    if wanted.subject:
        conditions.append(AuditEvent.subject == wanted.subject)
    if wanted.team:
        conditions.append(Team.name == wanted.team)
    if wanted.action:
        conditions.append(AuditEvent.action == wanted.action)
    if wanted.since:
        conditions.append(AuditEvent.at >= _start(wanted.since))
    if wanted.until and wanted.until < date.max:
        conditions.append(AuditEvent.at < _start(wanted.until + timedelta(days=1)))
    return query.where(*conditions)


def _start(of: date) -> datetime:
    return datetime.combine(of, time.min, UTC)


def _of(team_id: int) -> ColumnElement[bool]:
    """What the team's tokens did, and whatever was done to its submissions, runs, repositories, tokens and itself.

    SQLite gives numbers of deleted rows out again, so nothing counts that is older than what it would be about.
    """
    at, subject, repos = AuditEvent.at, AuditEvent.subject, select(Repo.id).where(Repo.team_id == team_id)
    submissions = select(Submission.id).join(System, System.id == Submission.system_id).where(System.team_id == team_id)
    commit = cast(RepoCommit.repo_id, String) + ":" + cast(RepoCommit.seq, String)
    theirs: dict[str, ColumnElement[bool]] = {
        "submission.%": subject.in_(submissions),
        "run.%": subject.in_(select(RunRow.id).where(RunRow.team_id == team_id)),
        "token.%": _numbered(Token, team_id),
        "webhook.%": _numbered(Webhook, team_id),
        "repo.committed": exists().where(RepoCommit.repo_id.in_(repos), commit == subject, RepoCommit.created_at <= at),
        "team.%": subject == str(team_id),
    }
    of_theirs = [and_(AuditEvent.action.like(like), condition) for like, condition in theirs.items()]
    age = select(Team.created_at).where(Team.id == team_id).scalar_subquery()
    return and_(at >= age, or_(AuditEvent.team_id == team_id, *of_theirs))


def _numbered(table: type[Token] | type[Webhook], team_id: int) -> ColumnElement[bool]:
    return exists().where(
        table.team_id == team_id, cast(table.id, String) == AuditEvent.subject, table.created_at <= AuditEvent.at
    )


def _event(row: AuditEvent, name: str | None, reader: int | None) -> Event:
    """A line; for a team that reads, others than itself and the service stay without name and number."""
    hidden = reader is not None and row.team_id != reader and row.actor not in ("service", "visitor")
    actor, team_id, token_id = (_HOUSE, None, None) if hidden else (row.actor, row.team_id, row.token_id)
    return Event(
        row.id, row.at, actor, None if hidden else name, team_id, token_id, row.action, row.subject, row.details
    )
