"""Two systems side by side: differences, the grid, and the questions where they differ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_rel
from sqlalchemy.orm import Session

from benchmarks.board_world import World, generate
from core.database import Database
from leaderboard.board import rows
from leaderboard.compare import contrasts, duel
from leaderboard.records import Board, Row
from scorer.statistics.resamples import ResampleStore
from scorer.stored import read_values

STORE = ResampleStore()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder: Path = tmp_path_factory.mktemp("compare")
    database = Database(f"sqlite:///{folder / 'board.sqlite'}")
    database.ensure_current()
    generate(database, folder, World(systems=8, questions=60, rated=30))
    with database.reading() as opened:
        yield opened


@pytest.fixture(scope="module")
def board(session: Session) -> Board:
    return rows(session, "generated")


def system(board: Board, name: str) -> Row:
    return next(row for row in board.rows if row.entry.system == name)


def test_differences_are_those_of_the_stored_values(session: Session, board: Board) -> None:
    one, two = system(board, "System 007"), system(board, "System 000")
    found = duel(session, board, one, two, STORE)
    for each in found.differences:
        left, right = (read_values(session, r.entry.evaluation_id, each.column.metric) for r in (one, two))
        both = np.isfinite(left) & np.isfinite(right)
        assert each.found.n == both.sum()
        assert each.found.difference == pytest.approx(float(np.mean(left[both] - right[both])))
        assert each.found.p == pytest.approx(ttest_rel(left[both], right[both]).pvalue)
        assert each.found.interval.low <= each.found.difference <= each.found.interval.high


def test_a_system_against_itself_differs_nowhere(session: Session, board: Board) -> None:
    one = system(board, "System 001")
    found = duel(session, board, one, one, STORE)
    assert {each.found.difference for each in found.differences} == {0.0}
    assert {each.found.p for each in found.differences} == {1.0}
    assert dict(found.grid) == {(0, 0, 0): 30}
    assert contrasts(session, board.benchmark, found) == ((), 0)


def test_the_grid_counts_every_question_with_all_scores_once(session: Session, board: Board) -> None:
    one, two = system(board, "System 007"), system(board, "System 001")
    found = duel(session, board, one, two, STORE)
    turned = duel(session, board, two, one, STORE)
    assert sum(found.grid.values()) == found.grid_n == 30
    assert {tuple(-s for s in signs): n for signs, n in turned.grid.items()} == dict(found.grid)
    left, right = (read_values(session, r.entry.evaluation_id, "em")[:30] for r in (one, two))
    assert sum(n for signs, n in found.grid.items() if signs[0] == 1) == int((left > right).sum())


def test_a_cell_of_the_grid_leads_to_its_questions(session: Session, board: Board) -> None:
    found = duel(session, board, system(board, "System 007"), system(board, "System 001"), STORE)
    for signs, count in found.grid.items():
        page, total = contrasts(session, board.benchmark, found, chosen=signs, count=1000)
        assert total == count == len(page)
        assert {each.signs for each in page} == {signs}


def test_questions_come_in_pages_without_gaps(session: Session, board: Board) -> None:
    found = duel(session, board, system(board, "System 007"), system(board, "System 001"), STORE)
    everything, total = contrasts(session, board.benchmark, found, count=1000)
    pages = [contrasts(session, board.benchmark, found, start=start, count=7)[0] for start in range(0, total, 7)]
    assert [each.position for page in pages for each in page] == [each.position for each in everything]
    assert all(each.question == f"who made invention number {each.position}" for each in everything)


def test_an_answer_that_was_not_given_is_nothing_not_a_blank(session: Session, board: Board) -> None:
    found = duel(session, board, system(board, "System 004"), system(board, "System 007"), STORE)
    page, _ = contrasts(session, board.benchmark, found, count=1000)
    missing = [each.first for each in page if each.first.answer is None]
    assert missing
    assert {(side.em, side.autoais, side.p) for side in missing} == {(0.0, 0.0, None)}
