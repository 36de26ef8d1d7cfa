"""The other pages of the leaderboard in headless Chromium, and all of them on every screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from sqlalchemy import select, update

from benchmarks.board_world import World, generate
from core.settings import Settings
from core.tables import Submission, System
from core.tables.base import utc_now
from server.bootstrap import Services, build
from server.snapshots import keep
from tests.board_pages import PROBE, ROWS, open_board, until_url
from tests.browser.conftest import screenshot
from tests.live_server import serving

pytestmark = pytest.mark.browser


def test_correlations_are_drawn_with_numbers_and_can_be_saved(page: Any) -> None:
    page.goto("/leaderboard/correlations")
    page.wait_for_selector("#plot-em .js-plotly-plot .point")
    page.wait_for_selector("#plot-autoais .js-plotly-plot .point")
    assert "Pearson r" in page.inner_text("#fit-em")
    for kind, start in (("svg", b"<svg"), ("png", b"\x89PNG"), ("json", b"{")):
        with page.expect_download() as download:
            page.click(f"#fit-em [data-save={kind}]")
        assert Path(download.value.path()).read_bytes().startswith(start)
    page.get_by_label("Other").check()
    until_url(page, "without=other")
    screenshot(page, "correlations")


def test_comparison_leads_from_the_grid_to_the_questions(page: Any) -> None:
    page.goto("/leaderboard/compare")
    page.wait_for_selector(".contrast")
    button = page.locator("#comparison [data-choose]").first
    count = int(button.inner_text())
    button.click()
    until_url(page, "cell=")
    assert f"{count} questions" in page.inner_text("#questions .status")
    page.locator(".contrast h3 a").first.click()
    page.wait_for_selector(".given")
    screenshot(page, "compare-to-example")


def test_examples_filter_and_deep_link(page: Any, address: str) -> None:
    page.goto("/leaderboard/examples?where=em-misses&question=7&q=number")
    page.wait_for_selector(".given")
    assert page.inner_text(".example h2") == "who made invention number 7"
    page.locator("#list [data-choose]").nth(2).click()
    chosen = page.locator("#list [data-choose]").nth(2).get_attribute("data-choose")
    until_url(page, f"question={chosen}")
    assert page.inner_text(".example h2") == f"who made invention number {chosen}"
    screenshot(page, "examples")


def test_what_a_team_wrote_is_text_everywhere(page: Any, services: Services) -> None:
    open_board(page)
    assert PROBE in page.inner_text("table.board")
    page.goto("/leaderboard/examples?question=5")
    page.wait_for_selector(".given")
    assert PROBE in page.inner_text("#example")
    with services.database.reading() as session:
        system = session.scalar(select(System.id).where(System.name == PROBE))
    page.goto(f"/leaderboard/system?id={system}")
    page.wait_for_selector(".facts")
    assert PROBE in page.inner_text("#about")
    page.goto(f"/leaderboard/compare?a={system}")
    page.wait_for_selector("table.differences")
    assert PROBE in page.inner_text("#comparison")
    page.goto("/leaderboard/correlations")
    page.wait_for_selector("#plot-em .js-plotly-plot .point")
    page.hover("#plot-em .js-plotly-plot .drag.nsewdrag")


def test_a_system_page_has_everything_to_cite_and_check(page: Any) -> None:
    open_board(page)
    page.click("text=System 010")
    page.wait_for_selector("#plot-calibration .js-plotly-plot .point")
    assert "judge:generated@1" in page.inner_text("#about")
    assert "@misc{team-0-system-010-v1" in page.inner_text("#below")
    screenshot(page, "system")


def test_history_says_that_there_is_one_day_and_by_what_it_ranks(page: Any) -> None:
    page.goto("/leaderboard/history")
    page.wait_for_selector("#moves table")
    assert page.locator("#moves tbody tr").count() == 12
    assert "One day so far" in page.inner_text("#moves .empty >> nth=0")
    assert "ranked by AIS" in page.inner_text("#moves .empty >> nth=0")
    assert "None yet" in page.inner_text("#moves .empty >> nth=1")


def test_a_stored_board_stands_beside_the_one_of_now(chromium: Browser, tmp_path: Path) -> None:
    made = build(Settings(data_dir=str(tmp_path), embedded_worker=False))
    made.database.ensure_current()
    generate(made.database, tmp_path, World(systems=6, questions=40, rated=20))
    assert keep(made.database, "generated") is not None
    with made.database.transaction() as session:
        gone = select(System.id).where(System.name == "System 005").scalar_subquery()
        session.execute(update(Submission).where(Submission.system_id == gone).values(withdrawn_at=utc_now()))
    with serving(made) as url:
        page = chromium.new_context(viewport={"width": 1280, "height": 900}, base_url=url).new_page()
        page.goto("/leaderboard/history")
        page.wait_for_selector("#moves table")
        assert "stored" in page.inner_text("#moves thead")
        assert "now" in page.inner_text("#moves thead")
        assert "gone" in page.inner_text("#moves tr:has-text('System 005')")
        assert "from=snapshot-1" in page.evaluate("location.search")
        with page.expect_download() as download:
            page.click("#moves .stored >> text=CSV")
        assert b"System 005" in Path(download.value.path()).read_bytes()
        screenshot(page, "history-stored")
        page.context.close()
    made.database.engine.dispose()


@pytest.mark.parametrize("width, scheme", [(390, "dark"), (768, "light"), (1920, "dark")])
def test_every_page_fits_every_screen(chromium: Browser, address: str, width: int, scheme: str) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": 844}, color_scheme=scheme, base_url=address, reduced_motion="reduce"
    )
    page = context.new_page()
    page.set_default_timeout(60_000)
    pages = {
        "": ROWS, "correlations": ".js-plotly-plot .point", "compare": ".contrast", "examples": ".given",
        "system": ".facts", "history": "#moves table",
    }  # fmt: skip
    for path, shown in pages.items():
        page.goto(f"/leaderboard/{path}")
        page.wait_for_selector(shown)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, ground.strip("rgb()").split(","))) < 200) == (scheme == "dark"), (path, ground)
        screenshot(page, f"leaderboard-{path or 'board'}-{width}-{scheme}")
    context.close()
