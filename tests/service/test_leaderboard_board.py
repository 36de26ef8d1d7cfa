"""The board over the real way from file to scores, on both databases: what is kept is never stale."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leaderboard.board import rows
from leaderboard.cache import Boards
from leaderboard.examples import example, find
from leaderboard.history import board_on, days
from leaderboard.records import Cell
from server.bootstrap import Services
from server.worker import Worker
from tests.ratings_files import apply, ratings_csv
from tests.small_benchmark import GOOD, add_benchmark, add_team, submit


@pytest.fixture
def boards(services: Services, tmp_path: Path) -> Boards:
    """Two published systems and a private one on the small benchmark."""
    add_benchmark(services, tmp_path / "files", raters_per_item=3)
    team = add_team(services)
    submit(services, team, GOOD, "good", publish=True)
    submit(services, team, GOOD[:1], "short", publish=True)
    submit(services, team, GOOD[:2], "private")
    Worker(services).run_until_idle()
    return Boards(services.database)


def ais(boards: Boards, system: str) -> Cell:
    return next(row for row in boards.get("small").rows if row.entry.system == system).metrics["ais"]


def test_published_systems_stand_on_the_board(services: Services, boards: Boards) -> None:
    board = boards.get("small")
    assert {row.entry.system for row in board.rows} == {"good", "short"}
    good = next(row for row in board.rows if row.entry.system == "good")
    assert good.metrics["em"].value == pytest.approx(3 / 5)
    assert board.column("autoais").title == board.column("autoais").judge.score_name
    with services.database.reading() as session:
        document = rows(session, "small").to_dict()
    assert document == board.to_dict()
    json.dumps(document, allow_nan=False)


def test_a_kept_board_follows_ratings_and_their_revocation(services: Services, boards: Boards) -> None:
    assert ais(boards, "good").value is None
    assert boards.get("small") is boards.get("small")
    batch = apply(services, ratings_csv({"oslo": "YYN", "roma": "YNN", "nile": "YYY"}))
    Worker(services).run_until_idle()
    rated = ais(boards, "good")
    assert rated.value == pytest.approx(2 / 4)
    services.ratings.revoke(batch.id, "maintainer")
    Worker(services).run_until_idle()
    assert ais(boards, "good").value is None


def test_a_board_with_synthetic_ratings_says_so_and_stops_when_they_go(services: Services, boards: Boards) -> None:
    assert not boards.get("small").synthetic
    batch = apply(services, ratings_csv({"oslo": "YYN"}), synthetic=True)
    assert boards.get("small").synthetic
    services.ratings.revoke(batch.id, "maintainer")
    assert not boards.get("small").synthetic


def test_withdrawing_takes_a_system_off_at_once(services: Services, boards: Boards) -> None:
    submission = next(row for row in boards.get("small").rows if row.entry.system == "good").entry.submission
    services.intake.withdraw(submission, None)
    assert {row.entry.system for row in boards.get("small").rows} == {"short"}


def test_examples_show_answers_votes_and_questions_by_their_words(services: Services, boards: Boards) -> None:
    apply(services, ratings_csv({"oslo": "YYN"}))
    Worker(services).run_until_idle()
    board = boards.get("small")
    corpus = services.benchmarks.corpus(services.benchmarks.get("small"))
    with services.database.reading() as session:
        found, total = find(session, board, boards.tables(board), text="NORWAY")
        shown = example(session, board, corpus, boards.tables(board), 0)
    assert (total, found[0].position) == (1, 0)
    assert [(g.answer, g.label.positive, g.label.raters, len(g.systems)) for g in shown.given] == [("Oslo", 2, 3, 2)]
    assert [text for text, marked in shown.given[0].text if marked] == ["Oslo"]


def test_todays_board_is_that_of_the_last_day(services: Services, boards: Boards) -> None:
    with services.database.reading() as session:
        latest = days(session, "small")[0]
        assert board_on(session, "small", latest).to_dict() == boards.get("small").to_dict()
