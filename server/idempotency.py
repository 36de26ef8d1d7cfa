"""Submissions that may be sent again: one idempotency key makes one submission, whatever happens on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import astuple
from typing import Any, BinaryIO

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from core.errors import AqaError, Conflict
from core.tables import SentRequest, Submission
from server.bootstrap import Services
from server.forms import card_of
from submissions.intake import SystemCard


def once(services: Services, team_id: int, key: str, sent: Mapping[str, Any]) -> str:
    """Submit what was sent, or find what the same request made before; returns the submission's id.

    Raises as `Intake.accept`, and `Conflict` where the key came with another content.
    """
    card, stream, name = card_of(sent), sent["file"].stream, sent["file"].filename or ""
    digest = _digest(sent["benchmark"], card, sent["publish"], stream) if key else ""

    def remember(session: Session, submission: Submission) -> None:
        if key:
            session.add(SentRequest(team_id=team_id, key=key, digest=digest, submission_id=submission.id))

    if (known := _known(services, team_id, key, digest)) is not None:
        return known
    try:
        return services.intake.accept(
            team_id, sent["benchmark"], card, stream, name, publish=sent["publish"], finish=remember
        ).id
    except (AqaError, IntegrityError):
        # The same request may have come through at the same moment.
        if (known := _known(services, team_id, key, digest)) is None:
            raise
        return known


def _known(services: Services, team_id: int, key: str, digest: str) -> str | None:
    if not key:
        return None
    with services.database.reading() as session:
        row = session.get(SentRequest, (team_id, key))
        if row is None:
            return None
        if row.digest != digest:
            raise Conflict("This Idempotency-Key came with another request before.", "Use a new key for a new request.")
        return row.submission_id


def _digest(benchmark: str, card: SystemCard, publish: bool, stream: BinaryIO) -> str:
    digest = hashlib.sha256(repr((benchmark, astuple(card), publish)).encode("utf-8", "surrogatepass"))
    while piece := stream.read(1 << 20):
        digest.update(piece)
    stream.seek(0)
    return digest.hexdigest()
