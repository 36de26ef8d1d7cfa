"""Reference systems of the catalog that have nothing on a benchmark: the board lists them as *not yet run*."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.tables import BenchmarkRow, Submission, System
from systems.catalog import not_yet_run


@dataclass(frozen=True, slots=True)
class Waiting:
    """A system of the catalog that has not run; `needs` names what must be handed in before it can."""

    name: str
    title: str
    architecture: str
    supervision: str
    uses_autoais: bool
    needs: tuple[str, ...]


def entered(session: Session, benchmark_id: str) -> set[str]:
    """The names of the reference systems that answered enough of a benchmark to be ranked and were not withdrawn."""
    held = select(System.name).join(Submission).join(BenchmarkRow, BenchmarkRow.id == Submission.benchmark_id)
    enough = Submission.coverage >= BenchmarkRow.minimum_coverage
    here = (Submission.benchmark_id == benchmark_id, System.reference, Submission.withdrawn_at.is_(None), enough)
    return set(session.scalars(held.where(*here)))


def waiting(session: Session, benchmark_id: str) -> list[Waiting]:
    """The systems of the catalog that could run on a benchmark and have not, in the catalog's order."""
    track = session.get_one(BenchmarkRow, benchmark_id).track
    return [
        Waiting(
            config.name, config.title, config.architecture, config.supervision, config.uses_autoais,
            tuple(config.lacks().values()),
        )
        for config in not_yet_run(entered(session, benchmark_id), track)
    ]  # fmt: skip
