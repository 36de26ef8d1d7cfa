"""Which versions stand on a board: the latest published, not withdrawn, evaluated one of each system."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session

from core.tables import EvaluationRow, ScoreRow, Submission, System, Team
from core.tables.base import utc_now
from leaderboard.records import Entry

_BATCH = 500
_FIELDS = [field.name for field in fields(Entry)]


def read_entries(session: Session, benchmark_id: str, include: Collection[str] = ()) -> tuple[Entry, ...]:
    """The entries of a benchmark by system id; submissions named in `include` count as published."""
    versions = read_versions(session, benchmark_id, or_(Submission.on_board, Submission.id.in_(include)))
    return tuple({entry.system_id: entry for entry in versions}.values())


def read_versions(session: Session, benchmark_id: str, shown: ColumnElement[bool]) -> list[Entry]:
    """All evaluated versions that a condition shows, by system id and version."""
    query = (
        select(
            System.id, System.name, Team.shown_name(utc_now()), System.architecture, System.supervision,
            System.description, System.links, System.uses_autoais, System.size, System.reference, Submission.id,
            Submission.version, Submission.coverage, EvaluationRow.id, EvaluationRow.judge, Submission.published_at,
        )
        .join(System, System.id == Submission.system_id)
        .join(Team, Team.id == System.team_id)
        .join(EvaluationRow, EvaluationRow.id == Submission.evaluation_id)
        .where(Submission.benchmark_id == benchmark_id, shown)
        .order_by(System.id, Submission.version)
    )  # fmt: skip
    found = (dict(zip(_FIELDS, values, strict=True)) for values in session.execute(query))
    return [Entry(**each | {"links": tuple(each["links"])}) for each in found]


def read_score_rows(session: Session, evaluation_ids: Sequence[int]) -> dict[int, dict[str, ScoreRow]]:
    """The stored numbers of many evaluations: id → metric → row."""
    found: dict[int, dict[str, ScoreRow]] = {evaluation_id: {} for evaluation_id in evaluation_ids}
    for start in range(0, len(evaluation_ids), _BATCH):
        wanted = evaluation_ids[start : start + _BATCH]
        for row in session.scalars(select(ScoreRow).where(ScoreRow.evaluation_id.in_(wanted))):
            found[row.evaluation_id][row.metric] = row
    return found
