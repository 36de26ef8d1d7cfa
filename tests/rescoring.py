"""A strict judge to score anew by, the entries that it judges, and what tests ask of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import func, select, update

from core.errors import InvalidInput
from core.ports import Judge
from core.records import Judgment, Pair
from core.tables import EvaluationRow, Job, Rescore, RescoreItem, Submission
from leaderboard import board
from scorer.judges.options import Options
from server import rescore_reading as reading
from server.bootstrap import Services
from server.worker import Worker
from submissions.kinds import RESCORE
from tests.small_benchmark import GOOD, add_benchmark, add_team, submit

asked: list[Pair] = []


class Strict:
    """Supports Oslo and nothing else."""

    key, title, help, score_name = "strict", "Strict", "For tests.", "Strict score"
    signature = "judge:strict@1"

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment]:
        asked.extend(pairs)
        return [Judgment(0.9 if pair.answer == "Oslo" else 0.1, "1") for pair in pairs]


def load_strict(source: str, options: Options) -> Judge:
    """The judge; `strict:broken` cannot be loaded."""
    if source == "broken":
        raise InvalidInput("The judge is broken.")
    return Strict()


def entries(services: Services, tmp_path: Path) -> Services:
    """Two systems on the board, one that is private, one withdrawn, one that failed; all scored."""
    add_benchmark(services, tmp_path / "files")
    team = add_team(services)
    submit(services, team, system="A", publish=True)
    submit(services, team, [*GOOD[1:3], {**GOOD[0], "answer": "Norway"}, GOOD[3]], system="B", publish=True)
    submit(services, team, GOOD[:3], system="Private")
    gone = submit(services, team, GOOD[:2], system="Gone", publish=True)
    submit(services, team, GOOD[:1], system="Failed", publish=True)
    Worker(services).run_until_idle()
    services.intake.withdraw(gone.id, None)
    submit(services, team, GOOD[1:2], system="Gone")
    Worker(services).run_until_idle()
    with services.database.transaction() as session:
        session.execute(
            update(Submission).where(Submission.coverage == 0.2, Submission.version == 1).values(
                state="failed", evaluation_id=None)
        )  # fmt: skip
    return services


def board_of(services: Services) -> dict[str, object]:
    """The board as the API gives it."""
    with services.database.reading() as session:
        return board.rows(session, "small").to_dict()


def work(services: Services) -> int:
    """Do all that waits; returns how many jobs that was."""
    return Worker(services, ("cpu", "gpu")).run_until_idle()


def count(services: Services, table: type) -> int:
    """A table's rows."""
    with services.database.reading() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def of(services: Services, system: str) -> Submission:
    """A system's latest version."""
    with services.database.reading() as session:
        rows = session.scalars(
            select(Submission).where(Submission.system.has(name=system)).order_by(Submission.version)
        )
        return rows.all()[-1]


def judge_of(services: Services, system: str) -> str:
    """Who judged what a system's latest version shows."""
    with services.database.reading() as session:
        return session.get_one(EvaluationRow, of(services, system).evaluation_id).judge


def items(services: Services, made: Rescore) -> dict[str, RescoreItem]:
    """A rescore's entries by submission."""
    with services.database.reading() as session:
        query = select(RescoreItem).where(RescoreItem.rescore_id == made.id)
        return {item.submission_id: item for item in session.scalars(query)}


def state(services: Services, made: Rescore) -> dict[str, object]:
    """A rescore as the API tells of it."""
    with services.database.reading() as session:
        return reading.document(session, reading.found(session, made.id))


def jobs_of(services: Services) -> list[int]:
    """The jobs of rescores that wait."""
    with services.database.reading() as session:
        query = select(Job.id).where(Job.kind == RESCORE, Job.state == "queued").order_by(Job.id)
        return list(session.scalars(query))


def board_value(services: Services, system: str) -> float | None:
    """A system's AutoAIS on the board."""
    rows = board_of(services)["rows"]
    return next(row["metrics"]["autoais"]["value"] for row in rows if row["system"] == system)
