"""The demo's editing benchmark as it is loaded: scored, rated, with the steps of recorded runs, and only once."""

from __future__ import annotations

from sqlalchemy import func, select

from core.tables import RatingBatch, RunRow, Submission
from core.tables.base import utc_now
from leaderboard.board import rows
from server.bootstrap import Services
from server.demo import editing
from server.worker import Worker


def test_everything_is_on_the_board_with_numbers_by_people(services: Services) -> None:
    due = editing.due(services)
    added = editing.load(services)
    assert (due, editing.due(services)) == (added, 0)
    Worker(services).run_until_idle()
    with services.database.reading() as session:
        board = rows(session, editing.BENCHMARK)
    assert (board.track, board.synthetic, board.rank_by) == ("editing", True, "f1_ap")
    assert len(board.rows) == added
    assert all(cell.value is not None for row in board.rows for cell in row.metrics.values())
    metrics = {row.entry.system: row.metrics for row in board.rows}
    oracle, copyist = metrics["Oracle-editor"], metrics["Copyist-BM25"]
    assert oracle["attr_ais"].value > oracle["attr_ais_before"].value
    assert copyist["pres_lev"].value < 0.5 < oracle["pres_lev"].value


def test_a_second_start_adds_nothing_and_brings_nothing_back(services: Services) -> None:
    editing.load(services)
    with services.database.transaction() as session:
        batch = session.scalars(select(RatingBatch)).one()
        batch.revoked_at = utc_now()
        session.scalars(select(Submission)).first().withdrawn_at = utc_now()
        before = session.scalar(select(func.count()).select_from(Submission))
    assert editing.load(services) == 0
    with services.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Submission)) == before
        assert session.scalar(select(func.count()).select_from(RatingBatch)) == 1


def test_recorded_runs_keep_their_steps(services: Services) -> None:
    editing.load(services)
    kept = list((editing.FOLDER / "runs").glob("*.json"))
    with services.database.reading() as session:
        runs = session.scalars(select(RunRow).where(RunRow.benchmark_id == editing.BENCHMARK)).all()
        assert len(runs) == len(kept)
        assert all(services.blobs.exists(run.details["outputs"]) and run.submission_id for run in runs)
