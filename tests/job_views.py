"""What tests of the job desk look at."""

from __future__ import annotations

from sqlalchemy import select

from core.tables import AuditEvent, Submission
from server import job_desk
from server.bootstrap import Services
from server.job_desk import Chosen
from tests.web_client import bearer


def house(services: Services) -> dict[str, str]:
    """A maintainer's headers."""
    return bearer(services, "house", "maintainer")


def jobs(services: Services, **chosen: str) -> list[job_desk.JobView]:
    """The jobs that are chosen, newest first."""
    with services.database.reading() as session:
        return job_desk.listed(services, session, Chosen(**chosen))


def stands(services: Services, at: str) -> tuple[str, str | None]:
    """A submission's state and the reason for it."""
    with services.database.reading() as session:
        row = session.get_one(Submission, at)
        return row.state, row.reason


def actions(services: Services, subject: object) -> list[str]:
    """What the audit log says was done to a job or a queue."""
    with services.database.reading() as session:
        mine = (AuditEvent.subject == str(subject), AuditEvent.action.like("job.%") | AuditEvent.action.like("queue.%"))
        return list(session.scalars(select(AuditEvent.action).where(*mine).order_by(AuditEvent.id)))
