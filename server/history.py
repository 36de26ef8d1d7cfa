"""The history of a submission: the versions of its system."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.tables import Submission
from server.auth import Identity
from server.bootstrap import Services
from server.entries import Entry, find, several, shown_to, whole


def versions(services: Services, session: Session, who: Identity | None, submission_id: str) -> list[Entry]:
    """The versions of a submission's system that the asker may see, newest first. Raises `NotFound`."""
    find(session, services.queue, who, submission_id)
    one = session.get_one(Submission, submission_id)
    same = (Submission.system_id == one.system_id, Submission.benchmark_id == one.benchmark_id)
    found = session.scalars(select(Submission).where(*same).options(whole()).order_by(Submission.version.desc()))
    return several(session, services.queue, [row for row in found if shown_to(row, who)], who)
