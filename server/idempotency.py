"""Submissions that may be sent again: one idempotency key makes one submission, whatever happens on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import astuple
from typing import Any, BinaryIO

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from core.errors import AqaError, Conflict
from core.tables import SentRequest, Submission, SubmissionSource
from server import references
from server.bootstrap import Services
from server.forms import card_of
from submissions import quotas
from submissions.intake import SystemCard


def once(services: Services, team_id: int, key: str, sent: Mapping[str, Any]) -> str:
    """Submit what was sent, or find what the same request made before; returns the submission's id.

    What was sent holds a `file`, or a `reference` to one on the Hub. Raises as `Intake.accept` and
    `references.fetched`, and `Conflict` where the key came with another content.
    """
    card = card_of(sent)
    digest = _digest(sent, card) if key else ""
    if (known := _known(services, team_id, key, digest)) is not None:
        return known
    stream, name, pinned = _brought(services, team_id, card, sent)

    def remember(session: Session, submission: Submission) -> None:
        if key:
            session.add(SentRequest(team_id=team_id, key=key, digest=digest, submission_id=submission.id))
        if pinned:
            session.add(SubmissionSource(submission_id=submission.id, reference=pinned))

    try:
        return services.intake.accept(
            team_id, sent["benchmark"], card, stream, name, publish=sent["publish"], finish=remember
        ).id
    except (AqaError, IntegrityError):
        # The same request may have come through at the same moment.
        if (known := _known(services, team_id, key, digest)) is None:
            raise
        return known


def _brought(services: Services, team_id: int, card: SystemCard, sent: Mapping[str, Any]) -> tuple[BinaryIO, str, str]:
    """The file, its name, and where on the Hub it was fetched from; nothing is fetched for what is refused anyway."""
    if "file" in sent:  # the page's form has a field for a reference too, which is empty then
        return sent["file"].stream, sent["file"].filename or "", ""
    card.check()
    services.benchmarks.get(sent["benchmark"])
    with services.database.reading() as session:
        quotas.check(session, team_id, services.settings.submissions_per_day)
    fetched = references.fetched(services.settings, sent["reference"])
    return fetched.stream, fetched.name, str(fetched.reference)


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


def _digest(sent: Mapping[str, Any], card: SystemCard) -> str:
    """Of the card and the file's bytes; of a reference as it was written, since a branch moves, a request does not."""
    said: tuple[Any, ...] = (sent["benchmark"], astuple(card), sent["publish"])
    if "file" not in sent:
        said = (*said, "reference", sent["reference"])
    digest = hashlib.sha256(repr(said).encode("utf-8", "surrogatepass"))
    if "file" in sent:
        stream: BinaryIO = sent["file"].stream
        while piece := stream.read(1 << 20):
            digest.update(piece)
        stream.seek(0)
    return digest.hexdigest()
