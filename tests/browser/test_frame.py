"""The header of every page in Chromium: its menu on a phone, its switch of colours, its ways around."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from server.bootstrap import Services
from tests.browser.conftest import screenshot
from tests.web_client import token

pytestmark = pytest.mark.browser
PAGES = ("/", "/leaderboard/")


def opened(chromium: Browser, url: str, width: int) -> Page:
    context = chromium.new_context(viewport={"width": width, "height": 800}, base_url=url, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(60_000)
    return page


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_header_and_footer_lie_in_the_same_place_on_both_kinds_of_page(
    chromium: Browser, small_service: tuple[str, Services], width: int
) -> None:
    page = opened(chromium, small_service[0], width)
    places = []
    for path in PAGES:
        page.goto(path)
        page.wait_for_load_state("networkidle")
        names = (".aqa-top", ".aqa-brand", ".aqa-side", ".aqa-foot .about")
        boxes = [page.locator(name).first.bounding_box() for name in names]
        places.append([(round(box["x"]), round(box["width"]), round(box["height"])) for box in boxes])
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert places[0] == places[1]
    page.context.close()


def test_the_menu_of_a_phone_opens_closes_and_leads_on(chromium: Browser, small_service: tuple[str, Services]) -> None:
    page = opened(chromium, small_service[0], 390)
    for path in PAGES:
        page.goto(path)
        page.wait_for_load_state("networkidle")
        expect(page.locator(".aqa-nav")).to_be_hidden()
        page.get_by_role("button", name="Menu").click()
        expect(page.locator(".aqa-nav")).to_be_visible()
        screenshot(page, f"frame-menu-{'board' if len(path) > 1 else 'home'}-390")
        page.keyboard.press("Escape")
        expect(page.locator(".aqa-nav")).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    page.locator(".aqa-nav").get_by_role("link", name="Docs").click()
    page.wait_for_url("**/docs")
    page.context.close()


def test_the_choice_of_colours_holds_on_every_page(chromium: Browser, small_service: tuple[str, Services]) -> None:
    page = opened(chromium, small_service[0], 1280)
    light, dark = "rgb(246, 248, 251)", "rgb(12, 19, 28)"
    ground = "getComputedStyle(document.body).backgroundColor"
    for path in PAGES:
        page.goto(path)
        page.wait_for_load_state("networkidle")
        page.wait_for_function(f"{ground} === {light!r}")
        page.get_by_role("button", name="Switch to dark").click()
        page.wait_for_function(f"{ground} === {dark!r}")
        for other in PAGES:
            page.goto(other)
            page.wait_for_load_state("networkidle")
            page.wait_for_function(f"{ground} === {dark!r}")
        page.get_by_role("button", name="Switch to light").click()
        page.wait_for_function(f"{ground} === {light!r}")
    page.context.close()


def test_a_team_reaches_its_pages_and_signs_out_from_the_board(
    chromium: Browser, small_service: tuple[str, Services]
) -> None:
    url, services = small_service
    page = opened(chromium, url, 390)
    page.goto("/sign-in")
    page.get_by_label("Token").fill(token(services, "A team with a name that no phone has room for"))
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/submissions")
    page.goto("/leaderboard/")
    page.wait_for_load_state("networkidle")
    page.locator(".aqa-team summary").click()
    expect(page.get_by_role("link", name="Submissions")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    screenshot(page, "frame-team-390")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in").first).to_be_visible()
    page.context.close()


def test_the_benchmark_stays_from_view_to_view(chromium: Browser, small_service: tuple[str, Services]) -> None:
    page = opened(chromium, small_service[0], 1280)
    page.goto("/leaderboard/?benchmark=small")
    page.wait_for_load_state("networkidle")
    page.locator(".aqa-nav").get_by_role("link", name="Compare").click()
    page.wait_for_url("**/leaderboard/compare?benchmark=small")
    page.wait_for_function("document.title === 'Compare · AQA Leaderboard'")
    page.context.close()
