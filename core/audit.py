"""The audit log writes itself: every change of state that a transaction flushes becomes a row in that transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from sqlalchemy import event, insert, inspect
from sqlalchemy.orm import Session

from core.tables import (
    AuditEvent,
    Base,
    BenchmarkRow,
    HubAccount,
    RaterExclusion,
    RatingBatch,
    RatingSheet,
    Repo,
    RepoCommit,
    RunRow,
    Submission,
    Team,
    Token,
    Webhook,
)
from core.tables.base import utc_now


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: a token's bearer, a visitor, the command line's user, or the service itself."""

    kind: str = "service"
    team_id: int | None = None
    token_id: int | None = None


SERVICE = Actor()
_actor: ContextVar[Actor] = ContextVar("actor", default=SERVICE)


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Whatever is changed inside the block is written down as this actor's doing."""
    token = _actor.set(actor)
    try:
        yield
    finally:
        _actor.reset(token)


def act_as(actor: Actor) -> None:
    """The same until it is called again: for requests, which begin and end in different functions."""
    _actor.set(actor)


def record(session: Session, action: str, subject: object, **details: Any) -> None:
    """Write down what the rows of a flush do not show, such as a bulk update."""
    _write(session, [_event(action, str(subject), details)])


def _set(action: str) -> Callable[[Any], str | None]:
    """The action where a moment was set, and none where it was taken away."""
    return lambda value: action if value is not None else None


_MADE: Mapping[type[Base], tuple[str, tuple[str, ...]]] = {
    BenchmarkRow: ("benchmark.added", ("content_hash",)),
    HubAccount: ("hub-account.added", ("team_id",)),
    RaterExclusion: ("rater.left-out", ("benchmark_id", "rater")),
    RatingBatch: ("ratings.opened", ("benchmark_id", "sheet_id")),
    RatingSheet: ("sheet.drawn", ("benchmark_id", "method")),
    Repo: ("repo.created", ("team_id",)),
    RepoCommit: ("repo.committed", ("repo_id", "seq", "submission_id")),
    RunRow: ("run.queued", ("team_id", "benchmark_id", "system")),
    Submission: ("submission.accepted", ("benchmark_id", "system_id", "version")),
    Team: ("team.added", ()),
    Token: ("token.made", ("team_id", "role")),
    Webhook: ("webhook.added", ("team_id",)),
}
"""Table → what a new row means, and the columns that are written down with it."""

_CHANGED: Mapping[type[Base], Mapping[str, Callable[[Any], str | None]]] = {
    RaterExclusion: {"restored_at": _set("rater.taken-back")},
    RatingBatch: {"applied_at": _set("ratings.applied"), "revoked_at": _set("ratings.revoked")},
    Submission: {
        "published_at": _set("submission.published"),
        "withdrawn_at": _set("submission.withdrawn"),
        "state": lambda state: f"submission.{state}",
    },
    Team: {"alias": lambda alias: "team.hidden" if alias else "team.shown"},
    Token: {"revoked_at": _set("token.revoked")},
}
"""Table → column → what its new value means."""

_GONE: Mapping[type[Base], str] = {
    HubAccount: "hub-account.removed",
    Repo: "repo.deleted",
    Team: "team.deleted",
    Webhook: "webhook.removed",
}


class AuditedSession(Session):
    """A session that writes the log beside what it flushes."""


@event.listens_for(AuditedSession, "after_flush")
def _after_flush(session: Session, _context: object) -> None:
    found: list[dict[str, Any]] = []
    for row in session.new:
        if type(row) in _MADE:
            action, columns = _MADE[type(row)]
            details = {name: getattr(row, name) for name in columns if getattr(row, name) is not None}
            found.append(_event(action, _key(row), details))
            found += _changes(row)
    for row in session.dirty:
        found += _changes(row)
    found += [_event(_GONE[type(row)], _key(row), {}) for row in session.deleted if type(row) in _GONE]
    _write(session, found)


def _changes(row: Any) -> list[dict[str, Any]]:
    found = []
    for column, meaning in _CHANGED.get(type(row), {}).items():
        history = inspect(row).attrs[column].history
        if (
            not history.added
            or history.added == history.deleted
            or (column in ("state", "alias") and not history.deleted)
        ):
            continue
        if (action := meaning(history.added[0])) is not None:
            found.append(_event(action, _key(row), {}))
    return found


def _event(action: str, subject: str, details: Mapping[str, Any]) -> dict[str, Any]:
    actor = _actor.get()
    return {
        "at": utc_now(), "actor": actor.kind[:80], "team_id": actor.team_id, "token_id": actor.token_id,
        "action": action, "subject": subject[:120], "details": dict(details),
    }  # fmt: skip


def _key(row: Any) -> str:
    return ":".join(str(value) for value in inspect(row).mapper.primary_key_from_instance(row))


def _write(session: Session, events: list[dict[str, Any]]) -> None:
    if events:
        session.connection().execute(insert(AuditEvent), events)
