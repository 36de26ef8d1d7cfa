"""The board in headless Chromium: what a visitor sees, sorts, filters, and takes away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from core.tables import System
from server.bootstrap import Services
from tests.board_pages import ROWS, column, open_board, until_url
from tests.browser.conftest import screenshot

pytestmark = pytest.mark.browser


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


def test_the_board_can_be_downloaded(page: Any) -> None:
    open_board(page)
    for kind, start in (("CSV", b"system,team"), ("JSON", b"{"), ("Parquet", b"PAR1")):
        with page.expect_download() as download:
            page.click(f".downloads >> text={kind}")
        assert Path(download.value.path()).read_bytes().startswith(start)


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
