"""The board on a date, what moved between two dates, and the board as files."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from sqlalchemy import select, update

from benchmarks.board_world import World, generate
from core.database import Database
from core.errors import InvalidInput
from core.tables import AuditEvent, EvaluationRow, ScoreRow, ShownEvaluation, Submission, System, ValuesRow
from core.tables.base import utc_now
from leaderboard.board import rows
from leaderboard.exports import KINDS, export
from leaderboard.history import board_on, days, moves
from leaderboard.pages.history_page import HistoryPage
from leaderboard.pages.render import coordinate, percent
from leaderboard.past import Moment, moments
from leaderboard.records import Board

FIRST, SECOND = date(2026, 3, 1), date(2026, 3, 9)


def noon(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC)


@pytest.fixture
def database(tmp_path: Path) -> Database:
    """Eight systems on the first day; on the second one is new, one scored anew, one gone, one has a version more."""
    found = Database(f"sqlite:///{tmp_path / 'board.sqlite'}")
    found.ensure_current()
    generate(found, tmp_path, World(systems=8, questions=60, rated=30))
    with found.transaction() as session:
        session.execute(update(Submission).values(published_at=noon(FIRST)))
        session.execute(update(EvaluationRow).values(created_at=noon(FIRST)))
        session.execute(update(ShownEvaluation).values(since=noon(FIRST)))
        of = {s.system.name: s for s in session.scalars(select(Submission))}
        of["System 000"].published_at = noon(SECOND)
        of["System 006"].withdrawn_at = noon(SECOND)
        old = session.get_one(EvaluationRow, of["System 001"].evaluation_id)
        new = EvaluationRow(
            benchmark_id=old.benchmark_id, digest=old.digest, signature=old.signature + "|again", judge=old.judge,
            created_at=noon(SECOND),
        )  # fmt: skip
        session.add(new)
        session.flush()
        for table in (ScoreRow, ValuesRow):
            for row in session.scalars(select(table).where(table.evaluation_id == of["System 007"].evaluation_id)):
                copied = {c.key: getattr(row, c.key) for c in table.__table__.columns}
                session.add(table(**copied | {"evaluation_id": new.id}))
        of["System 001"].evaluation_id = new.id
        session.add(ShownEvaluation(submission_id=of["System 001"].id, evaluation_id=new.id, since=noon(SECOND)))
        shared = {c.key: getattr(of["System 002"], c.key) for c in Submission.__table__.columns}
        session.add(Submission(**shared | {"id": "v2", "version": 2, "published_at": noon(SECOND)}))
        session.flush()
        session.add(ShownEvaluation(submission_id="v2", evaluation_id=shared["evaluation_id"], since=noon(SECOND)))
    return found


def boards(database: Database) -> tuple[Board, Board]:
    with database.reading() as session:
        return board_on(session, "generated", FIRST), board_on(session, "generated", SECOND)


def names(board: Board) -> set[str]:
    return {row.entry.system for row in board.rows}


def test_the_dates_are_those_of_changes(database: Database) -> None:
    with database.reading() as session:
        assert days(session, "generated") == [SECOND, FIRST]


def test_each_date_has_its_own_board(database: Database) -> None:
    first, second = boards(database)
    assert names(first) == {f"System 00{n}" for n in range(1, 8)}
    assert names(second) == {f"System 00{n}" for n in (0, 1, 2, 3, 4, 5, 7)}
    with database.reading() as session:
        assert board_on(session, "generated", date(2026, 2, 28)).rows == ()


def test_the_last_date_is_the_board_of_today(database: Database) -> None:
    with database.reading() as session:
        assert boards(database)[1].to_dict() == rows(session, "generated").to_dict()


def revoke(database: Database) -> None:
    """As when labels were revoked before it was noted what is shown: an earlier evaluation stands again."""
    with database.transaction() as session:
        of = session.scalars(select(Submission).where(Submission.system.has(name="System 001"))).one()
        first = select(ShownEvaluation.evaluation_id).where(ShownEvaluation.submission_id == of.id)
        of.evaluation_id = session.scalars(first.order_by(ShownEvaluation.since)).first()


def test_scores_that_came_back_count_from_when_the_log_says(database: Database) -> None:
    revoke(database)
    third = date(2026, 3, 20)
    with database.transaction() as session:
        at = session.scalars(select(Submission.id).where(Submission.system.has(name="System 001"))).one()
        for day in (FIRST, SECOND, third):
            session.add(AuditEvent(at=noon(day), actor="service", action="submission.scored", subject=at, details={}))
    with database.reading() as session:
        assert days(session, "generated") == [third, SECOND, FIRST]
        first, second, then = (board_on(session, "generated", day) for day in (FIRST, SECOND, third))
        assert then.to_dict() == rows(session, "generated").to_dict()
    shown = [{r.entry.system: r.entry.evaluation_id for r in b.rows}["System 001"] for b in (first, second, then)]
    assert shown[0] == shown[2] != shown[1]


def test_scores_that_came_back_at_a_time_unknown_are_shown_today(database: Database) -> None:
    revoke(database)
    today = utc_now().date()
    with database.reading() as session:
        assert board_on(session, "generated", today).to_dict() == rows(session, "generated").to_dict()


def test_moves_say_what_happened(database: Database) -> None:
    notes = {move.system: move.note for move in moves(*boards(database))}
    assert notes["System 000"] == "new"
    assert notes["System 006"] == "gone"
    assert notes["System 001"].startswith("scored anew")
    assert notes["System 002"].startswith("version 1 → 2")
    same = boards(database)[0]
    assert {move.note for move in moves(same, same)} == {"unchanged"}


def test_the_page_shows_each_value_with_its_interval_and_n(database: Database) -> None:
    html = HistoryPage(database)._shown("generated", *shown_moments(database))
    for board in boards(database):
        for row in board.rows:
            cell = row.metrics[board.rank_by]
            if cell.value is not None:
                assert f"{percent(cell.low)}–{percent(cell.high)}, n {cell.n}" in html
                assert f"--l:{coordinate(cell.low)};--h:{coordinate(cell.high)};--v:{coordinate(cell.value)}" in html


def shown_moments(database: Database) -> tuple[list[Moment], str, str]:
    with database.reading() as session:
        there = moments(session, "generated")
    return there, FIRST.isoformat(), SECOND.isoformat()


def test_files_hold_what_the_board_holds(database: Database) -> None:
    board = boards(database)[1]
    read = {
        "csv": list(csv.DictReader(io.StringIO(export(board, "csv")[0].decode()))),
        "parquet": pq.read_table(io.BytesIO(export(board, "parquet")[0])).to_pylist(),
    }
    assert json.loads(export(board, "json")[0]) == json.loads(json.dumps(board.to_dict()))
    for found in read.values():
        assert [each["system"] for each in found] == [row.entry.system for row in board.rows]
        for row, each in zip(board.rows, found, strict=True):
            assert float(each["em"]) == row.metrics["em"].value
            assert float(each["ais_low"]) == row.metrics["ais"].low
            assert each["autoais_signature"] == row.metrics["autoais"].signature
            assert int(each["rank_best"] or 0) == (row.rank.best if row.rank else 0)


def test_names_that_a_spreadsheet_would_run_are_escaped_in_csv_only(database: Database) -> None:
    with database.transaction() as session:
        session.execute(update(System).where(System.name == "System 001").values(name="=1+1"))
    board = boards(database)[1]
    assert "'=1+1," in export(board, "csv")[0].decode()
    assert "=1+1" in pq.read_table(io.BytesIO(export(board, "parquet")[0]))["system"].to_pylist()


def test_other_kinds_are_refused(database: Database) -> None:
    assert set(KINDS) == {"csv", "json", "parquet"}
    with pytest.raises(InvalidInput, match="xlsx"):
        export(boards(database)[1], "xlsx")
