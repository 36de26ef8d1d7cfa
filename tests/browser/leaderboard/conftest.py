"""The leaderboard, mounted as it is served, and a page on it that watches over itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser
from sqlalchemy import select, update

from benchmarks.board_world import World, generate
from core.settings import Settings
from core.tables import PredictionRow, ScoreRow, Submission, System
from server.bootstrap import Services, build
from tests.board_pages import PROBE


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Services:
    """Twelve systems; what teams write is hostile, and one system has no AIS."""
    folder = tmp_path_factory.mktemp("leaderboard")
    made = build(Settings(judge="token-overlap", data_dir=str(folder), embedded_worker=False))
    made.database.ensure_current()
    generate(made.database, folder, World(systems=12, questions=60, rated=30, names={1: PROBE}))
    with made.database.transaction() as session:
        session.execute(update(PredictionRow).where(PredictionRow.position == 5).values(answer=PROBE))
        hidden = session.scalars(select(Submission).join(System).where(System.name == "System 008")).one()
        nothing = {"value": None, "low": None, "high": None, "se": None, "reason": "No human has rated it."}
        session.execute(
            update(ScoreRow).where(ScoreRow.evaluation_id == hidden.evaluation_id, ScoreRow.metric == "ais")
            .values(**nothing)
        )  # fmt: skip
    return made


@pytest.fixture
def page(chromium: Browser, address: str) -> Iterator[Any]:
    """A page that fails its test if it talks to another host, throws, or runs what a team wrote."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, base_url=address, accept_downloads=True)
    opened = context.new_page()
    opened.set_default_timeout(60_000)
    elsewhere: list[str] = []
    thrown: list[str] = []
    opened.on("request", lambda r: None if r.url.startswith((address, "data:", "blob:")) else elsewhere.append(r.url))
    opened.on("pageerror", lambda error: thrown.append(str(error)))
    yield opened
    assert opened.evaluate("window.ran") is None
    context.close()
    assert elsewhere == []
    assert thrown == []
