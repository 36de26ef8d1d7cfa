"""Raters and maintainers in a real browser: rating by keys alone, and a file from preview to batch."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from sqlalchemy import select

from core.tables import RatingRow
from server.bootstrap import Services
from server.worker import Worker
from tests.browser.conftest import screenshot
from tests.ratings_files import ratings_csv
from tests.small_benchmark import add_team, submit
from tests.web_client import token

pytestmark = pytest.mark.browser
FILE = ratings_csv({"oslo": "YYN", "roma": "NNN", "nile": "YY"})
WIDTHS = (1280, 390)


@pytest.fixture
def service(small_service: tuple[str, Services]) -> tuple[str, Services]:
    """The small benchmark with one published entry."""
    _, services = small_service
    submit(services, add_team(services), publish=True)
    Worker(services).run_until_idle()
    return small_service


@pytest.fixture
def context(chromium: Browser, service: tuple[str, Services]) -> Iterator[BrowserContext]:
    """A browser that must meet no error of a script."""
    context = chromium.new_context(base_url=service[0], viewport={"width": 1280, "height": 900})
    context.set_default_timeout(10_000)
    faults: list[str] = []
    context.on("weberror", lambda error: faults.append(str(error.error)))
    yield context
    context.close()
    assert faults == []


def enter(page: Page, services: Services, team: str, role: str) -> None:
    page.goto("/sign-in")
    page.get_by_label("Token").fill(token(services, team, role))
    page.locator("main").get_by_role("button", name="Sign in").click()


def at_both_widths(page: Page, name: str) -> None:
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0, f"{name} is wider than the screen at {width}"
        screenshot(page, f"{name}-{width}")
    page.set_viewport_size({"width": 1280, "height": 900})


def test_a_rater_works_by_keys_alone(context: BrowserContext, service: tuple[str, Services]) -> None:
    _, services = service
    sheet = services.sheets.make("small", author="m", method="all")
    services.assignments.open(sheet.id, "m")
    page = context.new_page()
    enter(page, services, "ann", "rater")
    at_both_widths(page, "rate")
    page.get_by_role("link", name="Start", exact=True).click()
    expect(page.get_by_role("radio", name="Yes y").nth(1)).to_be_disabled()
    at_both_widths(page, "rate-task")

    page.keyboard.press("g")
    expect(page.get_by_role("heading", name="How to rate")).to_be_visible()
    page.keyboard.press("g")
    expect(page.get_by_role("heading", name="How to rate")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.get_by_text("0 of 3 rated by you")).to_be_visible()
    page.wait_for_load_state()

    for key in ("y", "n", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_text("1 of 3 rated by you")).to_be_visible()
    page.wait_for_load_state()  # before that the page does not listen to keys
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 of 3 rated by you")).to_be_visible()
    page.wait_for_load_state()

    page.keyboard.press("b")
    expect(page.locator("[name=interpretable][value=N]")).to_be_checked()
    page.wait_for_load_state()  # before that the page does not listen to keys
    for key in ("y", "y", "Enter"):
        page.keyboard.press(key)
    page.wait_for_url("**/rate/1")
    page.wait_for_load_state()
    for key in ("y", "y", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("heading", name="Nothing is left for you here")).to_be_visible()
    with services.database.reading() as session:
        found = session.execute(select(RatingRow.interpretable, RatingRow.supported).order_by(RatingRow.row)).all()
    assert [tuple(row) for row in found] == [(True, False), (True, True), (True, True)]


def test_a_remark_is_typed_without_answering(context: BrowserContext, service: tuple[str, Services]) -> None:
    _, services = service
    services.assignments.open(services.sheets.make("small", author="m", method="all").id, "m")
    page = context.new_page()
    enter(page, services, "ann", "rater")
    page.goto("/rate/1")
    page.get_by_text("A remark").click()
    page.get_by_label("What was unclear, say").fill("")
    page.keyboard.type("n by n, gnat")
    assert page.locator(":checked").count() == 0
    assert page.get_by_label("What was unclear, say").input_value() == "n by n, gnat"


def test_a_maintainer_previews_and_applies_a_file(context: BrowserContext, service: tuple[str, Services]) -> None:
    _, services = service
    page = context.new_page()
    enter(page, services, "house", "maintainer")
    page.locator("details.aqa-team summary").click()
    page.get_by_role("link", name="Human ratings").click()
    page.get_by_label("File", exact=True).set_input_files({"name": "r.csv", "mimeType": "text/csv", "buffer": FILE})
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="Nothing is applied yet")).to_be_visible()
    at_both_widths(page, "ratings-preview")
    assert services.ratings.batches() == []
    page.get_by_role("button", name="Apply this file").click()
    expect(page.get_by_role("heading", name="Batch 1")).to_be_visible()
    at_both_widths(page, "ratings-batch")
    page.get_by_label("Reason for leaving rater-3 out").fill("slow")
    page.get_by_role("row", name="rater-3").get_by_role("button").click()
    expect(page.get_by_role("heading", name="Raters left out")).to_be_visible()
    at_both_widths(page, "ratings")
    page.get_by_role("button", name="Take back").click()
    page.get_by_role("link", name="Batch 1").click()
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("revoked", exact=True)).to_be_visible()
    page.goto("/ratings")
    with page.expect_download() as sheet:
        page.get_by_role("button", name="Download as CSV").click()
    assert sheet.value.suggested_filename == "sheet-1.csv"
