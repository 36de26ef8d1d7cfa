"""The jobs behind the settings that name an inbox and a repository to publish to, and when they are due."""

from __future__ import annotations

import logging
import time
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.queue import Claim
from core.tables import Job
from core.tables.base import utc_now
from server import snapshots
from server.bootstrap import Services
from server.exchange.publishing import publish_boards
from server.exchange.wiring import hub, inbox

log = logging.getLogger("aqa.exchange")
POLL, PUBLISH = "inbox-poll", "publish-boards"


def poll(services: Services, claim: Claim) -> None:
    """Take in what is new in the inbox."""
    for outcome in inbox(services).poll():
        log.info("inbox: %s %s %s", outcome.path, outcome.state, outcome.submission or outcome.reason)
    _finish(services, claim)


def publish(services: Services, claim: Claim) -> None:
    """Bring the published boards up to date."""
    done = publish_boards(services, hub(services), claim.subject, utc_now().date())
    log.info("published %s files to %s", done.written, claim.subject)
    _finish(services, claim)


def failed(services: Services, session: Session, subject: str, reason: str) -> None:
    """Nobody waits for these jobs: the row keeps the reason, and the next one is due in its time."""


class Periodic:
    """Queues what is due; any number of workers may do so, since the job table is what is asked."""

    def __init__(self, services: Services) -> None:
        settings = services.settings
        self._services = services
        every = ((POLL, settings.inbox_repo, settings.inbox_seconds),
                 (PUBLISH, settings.publish_repo, settings.publish_seconds),
                 (snapshots.KIND, snapshots.SUBJECT, settings.snapshot_seconds))  # fmt: skip
        self._every = [(kind, subject, seconds) for kind, subject, seconds in every if subject and seconds]
        self._next_look = 0.0

    def tick(self) -> None:
        """Look, at most once a second, whether something is due."""
        if not self._every or time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + 1.0
        for kind, subject, seconds in self._every:
            with self._services.database.transaction() as session:
                if not _recent(session, kind, subject, seconds):
                    self._services.queue.add(session, kind, subject)


def _recent(session: Session, kind: str, subject: str, seconds: int) -> bool:
    """True where the job waits, runs, or was queued not long ago."""
    last = session.scalars(
        select(Job).where(Job.kind == kind, Job.subject == subject).order_by(Job.id.desc()).limit(1)
    ).first()
    if last is None:
        return False
    return last.state in ("queued", "running") or last.created_at > utc_now() - timedelta(seconds=seconds)


def _finish(services: Services, claim: Claim) -> None:
    with services.database.transaction() as session:
        services.queue.finish(session, claim)
