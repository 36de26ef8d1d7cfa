"""Raters and maintainers in a real browser: rating by keys alone, and a file from preview to batch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from sqlalchemy import select

from core.tables import EditRatingRow, RatingRow
from server.bootstrap import Services
from server.worker import Worker
from tests.browser.conftest import screenshot
from tests.ratings_files import ratings_csv
from tests.small_benchmark import add_team, submit
from tests.small_editing import GOOD as EDITED
from tests.small_editing import add_editing, send
from tests.web_client import token

pytestmark = pytest.mark.browser
FILE = ratings_csv({"oslo": "YYN", "roma": "NNN", "nile": "YY"})
WIDTHS = (1280, 390)
PROBE = '<img src=x onerror="window.ran=1"><script>window.ran=1</script>'


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
    context.set_default_timeout(60_000)
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


def test_a_rater_of_revisions_works_by_keys_alone(
    context: BrowserContext, service: tuple[str, Services], tmp_path: Path
) -> None:
    _, services = service
    add_editing(services, tmp_path / "editing", title="Passages to edit")
    hostile = [{**EDITED[0], "revised": EDITED[0]["revised"] + f" {PROBE}."}, *EDITED[1:]]
    send(services, add_team(services, "editors"), hostile, publish=True)
    Worker(services).run_until_idle()
    page = context.new_page()
    enter(page, services, "house", "maintainer")
    page.goto("/ratings?benchmark=edit")
    at_both_widths(page, "ratings-editing")
    page.get_by_role("button", name="Give it to the raters here").click()
    expect(page.get_by_role("heading", name="Batch 1")).to_be_visible()
    page.context.clear_cookies()

    enter(page, services, "ann", "rater")
    at_both_widths(page, "rate-editing")
    page.get_by_role("link", name="Start", exact=True).click()
    total = services.assignments.progress(1, "ann").total
    kinds = set()
    for done in range(total):
        expect(page.get_by_text(f"{done} of {total} rated by you")).to_be_visible()
        page.wait_for_load_state()  # before that the page does not listen to keys
        kind = "sentence" if page.locator("mark").count() else "intent"
        if kind not in kinds and "Oslo" in page.locator(".triple").inner_text():
            at_both_widths(page, f"rate-{kind}")
            kinds.add(kind)
        for key in ("g", "g", "n", "y" if done else "n", "Enter"):
            page.keyboard.press(key)
    expect(page.get_by_role("heading", name="Nothing is left for you here")).to_be_visible()
    assert kinds == {"sentence", "intent"}
    page.goto("/rate/1/2")
    page.wait_for_load_state()
    page.keyboard.press("b")
    expect(page.locator("[name=said][value=N]")).to_be_checked()
    assert page.evaluate("window.ran") is None
    with services.database.reading() as session:
        found = session.scalars(select(EditRatingRow.positive).order_by(EditRatingRow.row)).all()
    assert list(found) == [False] + [True] * (total - 1)


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
