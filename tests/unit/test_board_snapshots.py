"""Snapshots: taken when a board has changed, the same for ever after, and without names of their own."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete, select, update

from benchmarks.board_world import World, generate
from core.database import Database
from core.errors import NotFound
from core.tables import BoardSnapshot, Submission, System, Team
from core.tables.base import utc_now
from leaderboard import snapshots
from leaderboard.board import rows
from leaderboard.exports import export
from leaderboard.history import moves
from leaderboard.past import board_at, moments

BENCHMARK = "generated"


@pytest.fixture
def database(tmp_path: Path) -> Database:
    found = Database(f"sqlite:///{tmp_path / 'board.sqlite'}")
    found.ensure_current()
    generate(found, tmp_path, World(systems=6, questions=40, rated=20))
    return found


def take(database: Database) -> int | None:
    with database.transaction() as session:
        made = snapshots.take(session, BENCHMARK)
        return made.id if made else None


def withdraw(database: Database, system: str) -> None:
    with database.transaction() as session:
        of = select(System.id).where(System.name == system).scalar_subquery()
        session.execute(update(Submission).where(Submission.system_id == of).values(withdrawn_at=utc_now()))


def test_a_snapshot_is_the_board_again(database: Database) -> None:
    assert take(database) is not None
    with database.reading() as session:
        held = snapshots.restore(session, session.scalars(select(BoardSnapshot)).one())
        board = rows(session, BENCHMARK)
    assert held.to_dict() == json.loads(json.dumps(board.to_dict()))
    assert export(held, "csv") == export(board, "csv")


def test_one_is_taken_only_when_the_board_has_changed(database: Database) -> None:
    first = take(database)
    assert take(database) is None
    withdraw(database, "System 005")
    second = take(database)
    assert second is not None
    assert second != first
    with database.reading() as session:
        listed = snapshots.taken(session, BENCHMARK)
    assert [(each.id, each.systems) for each in listed] == [(second, 5), (first, 6)]
    assert listed[0].digest != listed[1].digest


def test_an_empty_board_makes_none_until_it_has_had_rows(database: Database) -> None:
    with database.transaction() as session:
        session.execute(update(Submission).values(published_at=None))
    assert take(database) is None


def test_what_came_later_does_not_change_it(database: Database) -> None:
    take(database)
    with database.reading() as session:
        before = rows(session, BENCHMARK)
    withdraw(database, "System 005")
    with database.reading() as session:
        there = moments(session, BENCHMARK)
        stored = next(each for each in there if each.stored)
        then, now = board_at(session, BENCHMARK, stored), rows(session, BENCHMARK)
    assert [row.rank for row in then.rows] == [row.rank for row in before.rows]
    assert {move.system: move.note for move in moves(then, now)}["System 005"] == "gone"


def test_names_are_those_of_now(database: Database) -> None:
    take(database)
    with database.transaction() as session:
        session.execute(
            update(Team)
            .where(Team.name == "Team 0")
            .values(alias="Anonymous", alias_until=utc_now() + timedelta(days=1))
        )
        session.execute(delete(System).where(System.name == "System 001"))
        text = json.dumps(session.scalars(select(BoardSnapshot.board)).one())
        held = snapshots.restore(session, session.scalars(select(BoardSnapshot)).one())
    assert "Team 0" not in text
    assert "System 001" not in text
    shown = {(row.entry.system, row.entry.team) for row in held.rows}
    assert ("System 000", "Anonymous") in shown
    assert ("a deleted system", "a deleted team") in shown


def test_moments_name_what_is_stored_and_what_is_rebuilt(database: Database) -> None:
    taken = take(database)
    with database.reading() as session:
        there = moments(session, BENCHMARK)
        assert {each.key for each in there} == {f"snapshot-{taken}", f"{utc_now():%Y-%m-%d}"}
        assert [each.label.rpartition(", ")[2] for each in there] == ["now", "stored"]
        with pytest.raises(NotFound):
            snapshots.taken(session, "none")
        with pytest.raises(NotFound):
            snapshots.find(session, 99)
