"""Maintainers in a real browser: jobs that renew themselves, calling one off, and switching to new scores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from server import rescores
from server.bootstrap import Services
from server.worker import Worker
from tests.browser.conftest import screenshot
from tests.small_benchmark import GOOD, add_team, submit
from tests.web_client import token

pytestmark = pytest.mark.browser
WIDTHS = (1280, 390)


@pytest.fixture
def page(chromium: Browser, small_service: tuple[str, Services]) -> Iterator[Page]:
    """A maintainer, signed in; no script may fail."""
    url, services = small_service
    context = chromium.new_context(base_url=url, viewport={"width": 1280, "height": 900})
    context.set_default_timeout(60_000)
    faults: list[str] = []
    context.on("weberror", lambda error: faults.append(str(error.error)))
    page = context.new_page()
    page.goto("/sign-in")
    page.get_by_label("Token").fill(token(services, "house", "maintainer"))
    page.locator("main").get_by_role("button", name="Sign in").click()
    yield page
    context.close()
    assert faults == []


def at_both_widths(page: Page, name: str) -> None:
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0, f"{name} is wider than the screen at {width}"
        screenshot(page, f"{name}-{width}")
    page.set_viewport_size({"width": 1280, "height": 900})


def test_jobs_renew_themselves_and_can_be_cancelled(page: Page, small_service: tuple[str, Services]) -> None:
    _, services = small_service
    page.goto("/jobs")
    expect(page.get_by_text("There was no job yet")).to_be_visible()
    at_both_widths(page, "jobs-empty")
    page.locator("#queue-cpu").focus()
    made = submit(services, add_team(services))
    row = page.locator("#job-1")
    expect(row).to_contain_text("system v1 of team")
    expect(row).to_contain_text("waiting")
    assert page.evaluate("document.activeElement.id") == "queue-cpu", "the keyboard's place is kept"
    page.get_by_role("button", name="Cancel job 1").click()
    expect(page.locator("#job-1")).to_contain_text("Cancelled by a maintainer.")
    at_both_widths(page, "jobs")
    page.get_by_role("button", name="Retry job 1").click()
    page.get_by_role("button", name="Pause the queue cpu").click()
    expect(page.locator(".queue").first).to_contain_text("paused")
    page.get_by_role("button", name="Resume the queue cpu").click()
    Worker(services).run_until_idle()
    expect(page.locator("#job-1")).to_contain_text("done")
    page.get_by_role("link", name="system v1 of team").click()
    page.wait_for_url(f"**/submissions/{made.id}")


def test_new_scores_are_looked_at_and_promoted(page: Page, small_service: tuple[str, Services]) -> None:
    _, services = small_service
    team = add_team(services)
    submit(services, team, system="A", publish=True)
    submit(services, team, [*GOOD[1:3], {**GOOD[0], "answer": "Norway"}, GOOD[3]], system="B", publish=True)
    Worker(services).run_until_idle()
    page.goto("/rescores")
    expect(page.get_by_text("Nothing was scored anew yet")).to_be_visible()
    made = rescores.start(services, "small", "small")
    page.goto("/rescores")
    page.get_by_role("link", name=f"Rescore {made.id}").click()
    expect(page.get_by_text("waits for a worker").first).to_be_visible()
    expect(page.get_by_role("button", name="Promote")).to_be_disabled()
    at_both_widths(page, "rescore-open")
    Worker(services).run_until_idle()
    expect(page.get_by_role("button", name="Promote")).to_be_enabled()
    expect(page.locator(".beside tbody tr")).to_have_count(2)
    at_both_widths(page, "rescore-ready")
    page.get_by_role("button", name="Promote").click()
    expect(page.get_by_text("the board shows the new scores")).to_be_visible()
