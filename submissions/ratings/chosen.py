"""The submissions that a sheet is drawn from."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import NotFound
from core.tables import Submission


def published(session: Session, benchmark_id: str) -> list[str]:
    """The latest version on the board of each system."""
    query = (
        select(Submission.system_id, Submission.id)
        .where(Submission.benchmark_id == benchmark_id, Submission.on_board)
        .order_by(Submission.version)
    )
    return sorted(dict(session.execute(query).all()).values())


def chosen(session: Session, benchmark_id: str, submissions: Sequence[str]) -> list[str]:
    """The submissions named, or all that are published where none is.

    Raises `NotFound` for a submission to another benchmark, where positions mean other questions.
    """
    of_benchmark = select(Submission.id).where(Submission.benchmark_id == benchmark_id, Submission.id.in_(submissions))
    known = set(session.scalars(of_benchmark))
    if strange := [each for each in submissions if each not in known]:
        raise NotFound(f"{benchmark_id} has no submission {strange[0][:40]!r}.", "Check the id and the benchmark.")
    return list(submissions) or published(session, benchmark_id)
