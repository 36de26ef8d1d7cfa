"""The board page lists reference systems that have not run, escaped and with what they need."""

from __future__ import annotations

from pathlib import Path

from leaderboard.cache import Boards
from leaderboard.pages.board_page import BoardPage
from server.bootstrap import Services
from systems.catalog import not_yet_run
from tests.small_benchmark import add_benchmark


def test_systems_that_have_not_run_are_listed_by_name(services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    page = BoardPage(services.database, Boards(services.database), "http://x").waiting("small")
    due = not_yet_run(set())
    assert f"{len(due)} reference systems have not yet run" in page
    assert all(config.name in page for config in due)
    assert "aqa system run NAME --benchmark small" in page


def test_without_a_benchmark_nothing_is_said(services: Services) -> None:
    assert BoardPage(services.database, Boards(services.database), "http://x").waiting("") == ""
