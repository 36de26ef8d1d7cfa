"""How many submissions a team may make in a day; what the platform itself failed is not counted."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from core import states
from core.errors import OverQuota
from core.tables import Submission, System
from core.tables.base import utc_now


def used_today(session: Session, team_id: int) -> int:
    """The team's submissions of the last 24 hours that did not fail."""
    return (
        session.scalar(
            select(func.count())
            .select_from(Submission)
            .join(System, System.id == Submission.system_id)
            .where(
                System.team_id == team_id,
                Submission.created_at > utc_now() - timedelta(days=1),
                Submission.state != states.FAILED,
            )
        )
        or 0
    )


def check(session: Session, team_id: int, per_day: int) -> None:
    """Raise `OverQuota` if the team has none left; 0 means no limit."""
    if per_day and used_today(session, team_id) >= per_day:
        raise OverQuota(
            f"The team has used its {per_day} submissions of the last 24 hours.",
            "Wait until the oldest is a day old. Validating a file is free: it does not count.",
        )
