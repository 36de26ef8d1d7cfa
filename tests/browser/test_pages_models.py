"""A team has a model of the Hub run, submits a file that lies there, and reads its audit log, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import update

from core.settings import Settings
from core.tables import RunRow
from server.bootstrap import Services, build
from tests.browser.conftest import screenshot
from tests.fake_hub import FakeHub
from tests.fake_hub import serving as serving_hub
from tests.hub_models import CARD, GOOD
from tests.live_server import serving
from tests.small_benchmark import GOOD as ROWS
from tests.small_benchmark import add_benchmark, jsonl
from tests.web_client import token

pytestmark = pytest.mark.browser
EVIL = '<img src=x onerror="window.ran=1">'


@pytest.fixture
def service(tmp_path: Path) -> Iterator[tuple[str, Services]]:
    """A service without a worker, whose Hub holds a model that can be run, one that cannot, and a file."""
    with serving_hub(FakeHub()) as hub:
        hub.model("lab/good", files=dict(GOOD), info=dict(CARD))
        hub.model("lab/bad", files=GOOD | {"config.json": b"{}", "tokenizer.json": b""}, info={})
        hub.dataset("lab/runs", files={"p.jsonl": jsonl(ROWS)})
        settings = Settings(
            judge="token-overlap", data_dir=str(tmp_path / "data"), bootstrap_resamples=199, embedded_worker=False,
            hub_endpoint=hub.url,
        )  # fmt: skip
        wired = build(settings)
        wired.database.ensure_current()
        add_benchmark(wired, tmp_path / "files", title="Small benchmark", synthetic=True)
        with serving(wired) as url:
            yield url, wired
        wired.database.engine.dispose()


def opened(chromium: Browser, service: tuple[str, Services], path: str, team: str, **options: object) -> Page:
    """A page behind the sign-in, at the width of a desk."""
    role = "maintainer" if team == "House" else "team"
    context = chromium.new_context(base_url=service[0], viewport={"width": 1280, "height": 900}, **options)
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(path)
    page.get_by_label("Token").fill(token(service[1], team, role))
    page.locator("main").get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    return page


def pictures(page: Page, name: str) -> None:
    """The page at both widths and in both colours; it never scrolls sideways."""
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            screenshot(page, f"{name}-{width}-{scheme}")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (name, width)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 900})


def set_state(services: Services, **values: object) -> None:
    with services.database.transaction() as session:
        session.execute(update(RunRow).values(**values))


def test_a_model_is_checked_run_and_followed(chromium: Browser, service: tuple[str, Services]) -> None:
    page = opened(chromium, service, "/submit", "Team Fjord")
    page.get_by_role("link", name="Have a model of the Hub answer").click()
    expect(page.locator("#runs")).to_contain_text("No model was run yet")
    pictures(page, "models-empty")
    page.get_by_text("Settings", exact=True).click()
    expect(page.get_by_label("P passages read at once")).to_be_visible()
    expect(page.get_by_label("shots")).to_be_hidden()
    page.get_by_label("Architecture").select_option("post-hoc-retrieval")
    expect(page.get_by_label("shots")).to_be_visible()
    expect(page.get_by_label("P passages read at once")).to_be_hidden()
    page.get_by_label("Model on the Hub").fill("lab/bad")
    page.get_by_label("Name").fill(EVIL)
    page.get_by_role("button", name="Check the model").click()
    expect(page.locator("#found")).to_contain_text("would be refused")
    expect(page.locator("#found .reasons li")).to_have_count(2)
    pictures(page, "models-refused")
    page.get_by_label("Model on the Hub").fill("lab/good")
    page.get_by_role("button", name="Check the model").click()
    expect(page.locator("#found")).to_contain_text("can be run")
    expect(page.get_by_label("Model on the Hub")).to_have_value("lab/good@" + _commit(page))
    page.get_by_text("Settings", exact=True).click()
    page.get_by_label("shots").fill("4")
    page.get_by_role("button", name="Have it run").click()
    page.wait_for_url("**/models/*")
    expect(page.get_by_text("next in line")).to_be_visible()
    pictures(page, "models-queued")
    for progress in (0.2, 0.4):
        set_state(service[1], state="running", stage="answering: 2 of 5 questions", progress=progress)
        expect(page.locator("#status")).to_have_attribute("data-progress", str(progress))
    expect(page.locator("#eta")).to_contain_text("left")
    set_state(service[1], state="failed", stage="failed", reason=f"It broke {EVIL}")
    expect(page.get_by_role("alert")).to_contain_text("It broke <img")
    assert page.evaluate("window.ran") is None
    page.goto("/models")
    expect(page.locator("#runs tbody tr")).to_contain_text("failed")
    pictures(page, "models-list")
    page.context.close()


def _commit(page: Page) -> str:
    return page.locator("#found code").inner_text().split("@")[1]


def test_a_file_on_the_hub_with_and_without_javascript(chromium: Browser, service: tuple[str, Services]) -> None:
    for enabled in (True, False):
        page = opened(chromium, service, "/submit", f"Team {enabled}", java_script_enabled=enabled)
        if enabled:
            pictures(page, "submit-reference")
            page.get_by_role("button", name="Validate only").click()
            expect(page.get_by_role("alert")).to_contain_text("No file was chosen")
        page.get_by_label("Or a file on the Hub").fill("hf://datasets/lab/runs/p.jsonl")
        page.get_by_role("button", name="Validate only").click()
        expect(page.get_by_role("heading", name="This file would be accepted")).to_be_visible()
        page.get_by_label("Name").fill("From the Hub")
        page.get_by_role("button", name="Submit").click()
        page.wait_for_url("**/submissions/*")
        expect(page.locator("#report")).to_contain_text("hf://datasets/lab/runs/p.jsonl@")
        page.context.close()


def test_the_audit_log(chromium: Browser, service: tuple[str, Services]) -> None:
    page = opened(chromium, service, "/submit", "Team Fjord")
    page.get_by_label("Or a file on the Hub").fill("hf://datasets/lab/runs/p.jsonl")
    page.get_by_label("Name").fill("From the Hub")
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/submissions/*")
    page.get_by_role("button", name="Publish once it is scored").click()
    page.goto("/audit")
    expect(page.locator("#events tbody tr").first).to_contain_text("submission.published")
    pictures(page, "audit-team")
    page.get_by_label("Action").select_option("run.failed")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("No event is like that")).to_be_visible()
    page.get_by_role("link", name="All events").click()
    expect(page.locator("#events tbody tr").first).to_contain_text("submission.published")
    page.context.close()
    for number in range(60):
        token(service[1], f"Team {number}")
    page = opened(chromium, service, "/audit", "House")
    expect(page.locator("#events tbody tr")).to_have_count(50)
    pictures(page, "audit-maintainer")
    page.get_by_role("link", name="Older").click()
    expect(page.get_by_role("link", name="Newest")).to_be_visible()
    page.get_by_label("Team").fill("Team Fjord")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#events tbody tr")).to_have_count(2)
    page.context.close()
