"""Webhooks: a team's own addresses are told, signed, when a submission's evaluation ends."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from core.errors import Conflict, NotFound, Unavailable
from core.queue import Claim, Queue
from core.settings import Settings
from core.tables import Submission, System, Team, Webhook, WebhookDelivery
from core.tables.base import utc_now
from server.bootstrap import Services
from server.outbound import check_url, post

KIND = "webhook"
"""The job that sends one message; its subject is the delivery."""
SCORED, FAILED, PING = "submission.scored", "submission.failed", "ping"
RETRY_SECONDS = (10, 60, 600, 3_600, 21_600)
"""How long is waited after each attempt that failed; after the last one it is given up."""


def add(session: Session, settings: Settings, team_id: int, url: str) -> Webhook:
    """Store an address with a fresh secret. Raises `InvalidInput` for a bad one and `Conflict` for one too many."""
    url = check_url(url.strip(), settings.webhook_private)
    session.get_one(Team, team_id, with_for_update=True)
    mine = select(func.count()).select_from(Webhook).where(Webhook.team_id == team_id)
    if (session.scalar(mine) or 0) >= settings.webhooks_per_team:
        raise Conflict(f"A team has at most {settings.webhooks_per_team} webhooks here.", "Remove one first.")
    hook = Webhook(team_id=team_id, url=url, secret=f"whsec_{secrets.token_urlsafe(32)}")
    session.add(hook)
    session.flush()
    return hook


def listed(session: Session, team_id: int) -> list[Webhook]:
    """The team's webhooks, oldest first."""
    return list(session.scalars(select(Webhook).where(Webhook.team_id == team_id).order_by(Webhook.id)))


def own(session: Session, team_id: int, webhook_id: int) -> Webhook:
    """One of the team's webhooks. Raises `NotFound`, for another team's as well."""
    hook = session.get(Webhook, webhook_id)
    if hook is None or hook.team_id != team_id:
        raise NotFound(f"Your team has no webhook {webhook_id}.", "List them to see their numbers.")
    return hook


def deliveries(session: Session, hook: Webhook, limit: int = 50) -> list[WebhookDelivery]:
    """The newest messages to an address."""
    query = select(WebhookDelivery).where(WebhookDelivery.webhook_id == hook.id)
    return list(session.scalars(query.order_by(WebhookDelivery.id.desc()).limit(limit)))


def ping(session: Session, queue: Queue, hook: Webhook) -> WebhookDelivery:
    """Queue a message that only shows that the address works."""
    return _queue(session, queue, hook, PING, {"event": PING, "at": utc_now().isoformat()})


def tell(session: Session, queue: Queue, submission_id: str, event: str) -> None:
    """Queue a message to each of the team's addresses, in the transaction that ends the evaluation."""
    submission = session.get_one(Submission, submission_id, populate_existing=True)
    system = session.get_one(System, submission.system_id)
    body = {
        "event": event, "at": utc_now().isoformat(), "submission": submission.id,
        "benchmark": submission.benchmark_id, "system": system.name, "version": submission.version,
        "state": submission.state, "reason": submission.reason,
    }  # fmt: skip
    for hook in listed(session, system.team_id):
        _queue(session, queue, hook, event, body)


def deliver(services: Services, claim: Claim) -> None:
    """Send one message; where that fails, queue the next attempt. A message can arrive twice, never not at all."""
    with services.database.reading() as session:
        row = session.get(WebhookDelivery, int(claim.subject))
        hook = session.get(Webhook, row.webhook_id) if row is not None and row.state == "queued" else None
    reason = _send(services.settings, hook, row) if hook is not None and row is not None else ""
    with services.database.transaction() as session:
        row = session.get(WebhookDelivery, int(claim.subject), with_for_update=True)
        if row is not None and row.state == "queued":
            _note(session, services.queue, row, reason)
        services.queue.finish(session, claim)


def failed(services: Services, session: Session, subject: str, reason: str) -> None:
    """The job ended by a fault of ours."""
    values = {"state": "failed", "reason": reason, "finished_at": utc_now()}
    session.execute(update(WebhookDelivery).where(WebhookDelivery.id == int(subject)).values(**values))


def again(services: Services, session: Session, subject: str) -> None:
    """Its job was queued again."""
    values = {"state": "queued", "finished_at": None}
    session.execute(update(WebhookDelivery).where(WebhookDelivery.id == int(subject)).values(**values))


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """HMAC-SHA256 over `TIMESTAMP.BODY` with the webhook's secret, in hexadecimal."""
    return hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()


def _send(settings: Settings, hook: Webhook, row: WebhookDelivery) -> str:
    """Why it was not taken; empty if it was."""
    body, now = row.body.encode(), int(time.time())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "aqa-leaderboard",
        "AQA-Event": row.event,
        "AQA-Delivery": str(row.id),
        "AQA-Signature": f"t={now},v1={signature(hook.secret, now, body)}",
    }
    try:
        status = post(hook.url, body, headers, settings.webhook_private)
    except Unavailable as error:
        return error.message
    return "" if 200 <= status < 300 else f"The answer was {status}; only 200 to 299 count as taken."


def _note(session: Session, queue: Queue, row: WebhookDelivery, reason: str) -> None:
    row.attempts += 1
    row.reason = reason or None
    if not reason:
        row.state, row.finished_at = "delivered", utc_now()
    elif row.attempts > len(RETRY_SECONDS):
        row.state, row.finished_at = "failed", utc_now()
    else:
        queue.add(session, KIND, str(row.id), after=RETRY_SECONDS[row.attempts - 1])


def _queue(session: Session, queue: Queue, hook: Webhook, event: str, body: dict[str, object]) -> WebhookDelivery:
    row = WebhookDelivery(webhook_id=hook.id, event=event, body=json.dumps(body, ensure_ascii=True))
    session.add(row)
    session.flush()
    queue.add(session, KIND, str(row.id))
    return row
