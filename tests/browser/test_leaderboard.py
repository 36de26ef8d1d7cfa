"""The leaderboard in headless Chromium, mounted as it is served: what a visitor sees and does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from sqlalchemy import select, update

from benchmarks.board_world import World, generate
from core.settings import Settings
from core.tables import PredictionRow, ScoreRow, Submission, System
from core.tables.base import utc_now
from server.bootstrap import Services, build
from server.snapshots import keep
from tests.browser.conftest import screenshot
from tests.live_server import serving

pytestmark = pytest.mark.browser
PROBE = '<img src=x onerror="window.ran=1"><script>window.ran=1</script>{{7*7}}${window.ran=1}'
ROWS = "table.board tbody tr:not(.group)"


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Services:
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


@pytest.fixture(scope="module")
def address(services: Services) -> Iterator[str]:
    with serving(services) as url:
        yield url


@pytest.fixture
def page(chromium: Browser, address: str) -> Iterator[Any]:
    """A page that fails its test if it talks to another host, throws, or runs what a team wrote."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, base_url=address, accept_downloads=True)
    opened = context.new_page()
    opened.set_default_timeout(30_000)
    elsewhere: list[str] = []
    thrown: list[str] = []
    opened.on("request", lambda r: None if r.url.startswith((address, "data:", "blob:")) else elsewhere.append(r.url))
    opened.on("pageerror", lambda error: thrown.append(str(error)))
    yield opened
    assert opened.evaluate("window.ran") is None
    context.close()
    assert elsewhere == []
    assert thrown == []


def column(page: Any, title: str) -> list[str]:
    return page.locator(f"{ROWS} td[data-label='{title}'] .v").all_inner_texts()


def open_board(page: Any, query: str = "") -> None:
    page.goto(f"/leaderboard/{query}")
    page.wait_for_selector(ROWS)


def until_url(page: Any, part: str) -> None:
    page.wait_for_function("part => decodeURIComponent(location.search).includes(part)", arg=part)


def test_the_board_shows_groups_bars_and_what_is_synthetic(page: Any) -> None:
    open_board(page)
    assert page.locator(ROWS).count() == 12
    assert page.locator("tr.group").count() == 5
    assert page.locator(f"{ROWS} i.whisker").count() > 40
    assert "Synthetic ratings" in page.inner_text("#board .notice")
    assert "synthetic ratings" in page.inner_text("table.board thead").lower()
    assert page.locator("table.board s").count() == 1
    screenshot(page, "leaderboard")


def test_n_a_is_last_both_ways_when_a_heading_is_clicked(page: Any) -> None:
    open_board(page, "?flat=1")
    for _ in range(2):
        before = page.evaluate("location.search")
        page.click("[data-sort=ais]")
        page.wait_for_function("before => location.search !== before", arg=before)
        shown = column(page, "AIS")
        assert shown[-1] == "n/a"
        numbers = [float(text) for text in shown[:-1]]
        assert len(numbers) == 11
        ascending = "ascending=1" in page.evaluate("location.search")
        assert numbers == sorted(numbers, reverse=not ascending)
    assert page.get_attribute("th:has([data-sort=ais])", "aria-sort") in ("ascending", "descending")


@pytest.mark.parametrize("query", ["?benchmark=generated", "?benchmark=generated&q=team&flat=1"])
def test_a_heading_sorts_as_the_server_does(page: Any, query: str) -> None:
    names = f"{ROWS} .system > a"
    for key in ("ais", "system", "em"):
        open_board(page, query)
        page.wait_for_load_state("networkidle")
        for _ in range(2):
            page.click(f"[data-sort={key}]")
            clicked = page.locator(names).all_text_contents()
            address, sign = page.evaluate("location.search"), page.inner_text(f"[data-sort={key}] .arrow")
            other = page.context.new_page()
            open_board(other, address)
            assert other.locator(names).all_text_contents() == clicked, address
            assert other.inner_text(f"[data-sort={key}] .arrow") == sign
            assert other.evaluate("location.search") == address
            other.close()


def test_a_filter_after_a_heading_keeps_its_order(page: Any) -> None:
    open_board(page, "?flat=1")
    page.wait_for_load_state("networkidle")
    for _ in range(2):
        with page.expect_response(lambda answer: "/run/predict" in answer.url):
            page.click("[data-sort=em]")
    page.fill("#search input", "system")
    until_url(page, "q=system")
    assert "sort=em&ascending=1" in page.evaluate("location.search")
    shown = [float(text) for text in column(page, "EM")]
    assert len(shown) == 12
    assert shown == sorted(shown)


def test_search_narrows_and_keeps_ranks(page: Any) -> None:
    open_board(page)
    ranks = {row.split("\n")[0] for row in page.locator(ROWS).all_inner_texts() if "System 011" in row}
    page.fill("#search input", 'team:"team 1" 011')
    until_url(page, "q=team")
    page.wait_for_function(f"document.querySelectorAll({ROWS!r}).length === 1")
    assert {page.inner_text(ROWS).split("\n")[0]} == ranks
    page.fill("#search input", "nothing like it")
    page.wait_for_selector("text=No system matches these filters")
    page.click("text=Clear all filters")
    page.wait_for_function(f"document.querySelectorAll({ROWS!r}).length === 12")


def test_a_url_brings_back_the_whole_view(page: Any) -> None:
    open_board(page, "?benchmark=generated&q=system&sort=em&ascending=1&columns=em,em_lenient&rank_by=em&flat=1")
    assert page.input_value("#search input") == "system"
    assert page.locator("table.board thead [data-sort]").all_inner_texts()[1:] == ["EM▲", "EM lenient"]
    assert page.locator("tr.group").count() == 0
    assert "ranked by EM" in page.inner_text("#board .status")


def test_columns_can_be_chosen(page: Any) -> None:
    open_board(page)
    page.click("#filters button")
    page.get_by_label("EM lenient").check()
    page.wait_for_selector("[data-sort=em_lenient]")
    until_url(page, "em_lenient")


def test_the_keyboard_reaches_and_sorts_a_column(page: Any) -> None:
    open_board(page)
    page.wait_for_load_state("networkidle")
    page.focus("[data-sort=em]")
    page.keyboard.press("Enter")
    until_url(page, "sort=em")


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


def test_the_board_can_be_downloaded(page: Any) -> None:
    open_board(page)
    for kind, start in (("CSV", b"system,team"), ("JSON", b"{"), ("Parquet", b"PAR1")):
        with page.expect_download() as download:
            page.click(f".downloads >> text={kind}")
        assert Path(download.value.path()).read_bytes().startswith(start)


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


def test_the_switch_of_tracks_and_the_filter_by_size(page: Any, services: Services) -> None:
    with services.database.transaction() as session:
        session.execute(update(System).where(System.name == "System 004").values(size=11.0))
        session.execute(update(System).where(System.name == "System 005").values(size=0.77))
    open_board(page, "?size=10-100&flat=1")
    assert page.locator(ROWS).count() == 1
    assert "11 B" in page.inner_text(ROWS)
    assert page.get_attribute(".tracks [aria-current]", "href") == "/leaderboard/"
    page.click("#filters button")
    page.get_by_label("Size").click()
    page.get_by_role("option", name="Under 1 billion").click()
    until_url(page, "size=under-1")
    page.wait_for_selector(f"{ROWS} >> text=770 M")
    page.click(".tracks >> text=Editing for attribution")
    page.wait_for_url("**/leaderboard/editing**")


def test_the_meaning_of_the_columns_is_one_click_or_key_away(page: Any) -> None:
    open_board(page)
    page.wait_for_load_state("networkidle")
    page.focus("#board .status a")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('#columns-mean').checkVisibility()")
    for text in page.locator("#columns-mean dd").all_inner_texts():
        assert text.strip()


@pytest.mark.parametrize("width, scheme", [(390, "dark"), (768, "light"), (1920, "dark")])
def test_every_page_fits_every_screen(chromium: Browser, address: str, width: int, scheme: str) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": 844}, color_scheme=scheme, base_url=address, reduced_motion="reduce"
    )
    page = context.new_page()
    page.set_default_timeout(30_000)
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
