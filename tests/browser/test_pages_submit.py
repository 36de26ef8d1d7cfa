"""A team at work in a real browser: validate, be refused, submit, follow, publish; with and without JavaScript."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from sqlalchemy import update

from core.tables import Submission
from server.bootstrap import Services
from server.worker import Worker
from tests.browser.conftest import screenshot
from tests.small_benchmark import GOOD, jsonl
from tests.web_client import API, bearer, token

pytestmark = pytest.mark.browser
EVIL = '<img src=x onerror="window.ran=1">'
BROKEN = b'question,answer,attribution\nwhat is the capital of norway,Oslo\n"what is the capital of italy,Rome,x\n'
PAGES = ("/", "/docs", "/sign-in", "/submit", "/submissions", "/benchmarks/small", "/nothing")


@pytest.fixture
def context(chromium: Browser, small_service: tuple[str, Services]) -> Iterator[BrowserContext]:
    """A visitor whose browser must see no error and ask no outside host."""
    url, _ = small_service
    context = chromium.new_context(base_url=url, viewport={"width": 1280, "height": 900})
    context.set_default_timeout(60_000)
    hosts: set[str] = set()
    faults: list[str] = []
    context.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    context.on("weberror", lambda error: faults.append(str(error.error)))
    context.on("console", lambda message: faults.append(message.text) if _is_fault(message.text) else None)
    yield context
    context.close()
    assert hosts <= {urlsplit(url).netloc}
    assert faults == []


def _is_fault(text: str) -> bool:
    return "Content Security Policy" in text or "Uncaught" in text


def file(data: bytes, name: str = "answers.jsonl") -> dict[str, object]:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def enter(page: Page, services: Services, team: str = "Team Fjord") -> None:
    """Sign in on the way to the form."""
    page.goto("/submit")
    page.get_by_label("Token").fill(token(services, team))
    page.locator("main").get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Submit a file")).to_be_visible()


def entries(services: Services, url: str) -> list[dict[str, object]]:
    found = httpx.get(f"{url}{API}/submissions", headers=bearer(services, "Team Fjord"))
    return list(found.json()["submissions"])


def test_from_a_broken_file_to_the_board(context: BrowserContext, small_service: tuple[str, Services]) -> None:
    url, services = small_service
    page = context.new_page()
    enter(page, services)
    page.get_by_label("File", exact=True).set_input_files(file(BROKEN, "broken.csv"))
    page.get_by_role("button", name="Validate only").click()
    expect(page.get_by_role("heading", name="This file would be refused whole")).to_be_visible()
    expect(page.locator(".places tbody tr").first.locator("td").first).to_have_text("1")
    screenshot(page, "pages-validate-broken-1280")
    page.get_by_label("Name").fill("Fjord reader")
    page.get_by_label("Architecture").select_option("retrieve-then-read")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text("There are 2 fields")
    assert entries(services, url) == []

    page.get_by_label("File", exact=True).set_input_files(file(jsonl(GOOD)))
    page.get_by_role("button", name="Validate only").click()
    expect(page.get_by_role("heading", name="This file would be accepted")).to_be_visible()
    assert entries(services, url) == []
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/submissions/*")
    expect(page.locator("#stage")).to_have_text("Waiting for a worker")
    expect(page.get_by_text("next in line")).to_be_visible()
    screenshot(page, "pages-queued-1280")

    Worker(services).run_until_idle()
    scores = page.locator("#scores")
    expect(scores.locator("tr[data-metric=em] td").first).to_have_text("60.0")
    expect(scores.locator("tr[data-metric=autoais] th")).to_contain_text("Token overlap (baseline)")
    expect(scores.locator("tr[data-metric=ais] th")).to_contain_text("Synthetic ratings")
    scores.get_by_text("signature").first.click()
    expect(scores.get_by_text("em|bench:small@").first).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    screenshot(page, "pages-scored-390")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_role("button", name="Publish on the board").click()
    expect(page.get_by_role("button", name="Withdraw from the board")).to_be_visible()
    screenshot(page, "pages-published-1280")
    (row,) = httpx.get(f"{url}{API}/leaderboard?benchmark=small").json()["rows"]
    assert (row["system"], row["metrics"]["em"]["value"]) == ("Fjord reader", 0.6)
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert download.value.suggested_filename.endswith("-examples.csv")


def test_the_page_follows_the_work_and_tells_failure(
    context: BrowserContext, small_service: tuple[str, Services]
) -> None:
    _, services = small_service
    page = context.new_page()
    enter(page, services)
    made = submit_over_api(small_service)
    page.goto(f"/submissions/{made}")
    for progress in (0.2, 0.4):
        set_state(services, made, state="running", stage="judging: 2 of 5 pairs", progress=progress)
        expect(page.locator("#status")).to_have_attribute("data-progress", str(progress))
    expect(page.locator("#stage")).to_have_text("Judging: 2 of 5 pairs")
    expect(page.locator("#eta")).to_contain_text("left")
    set_state(services, made, state="failed", stage="failed", reason="The judge ran out of <memory>.")
    expect(page.get_by_role("alert")).to_contain_text("The judge ran out of <memory>.")
    expect(page.get_by_role("button", name="Publish")).to_have_count(0)
    screenshot(page, "pages-failed-1280")


def submit_over_api(service: tuple[str, Services]) -> str:
    url, services = service
    fields = {"benchmark": "small", "system": "Followed"}
    headers = bearer(services, "Team Fjord")
    made = httpx.post(f"{url}{API}/submissions", data=fields, files={"file": ("a", jsonl(GOOD))}, headers=headers)
    return str(made.json()["id"])


def set_state(services: Services, submission: str, **values: object) -> None:
    with services.database.transaction() as session:
        session.execute(update(Submission).where(Submission.id == submission).values(**values))


def test_a_dropped_file_is_taken(context: BrowserContext, small_service: tuple[str, Services]) -> None:
    page = context.new_page()
    enter(page, small_service[1])
    page.evaluate(
        """text => {
            const data = new DataTransfer();
            data.items.add(new File([text], "dropped.jsonl"));
            document.getElementById("drop").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
        }""",
        jsonl(GOOD).decode(),
    )
    page.get_by_role("button", name="Validate only").click()
    expect(page.locator("#result")).to_contain_text("dropped.jsonl answers 100.0 % of the questions")


def test_a_file_over_the_limit_is_not_sent(context: BrowserContext, small_service: tuple[str, Services]) -> None:
    page = context.new_page()
    enter(page, small_service[1])
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    page.get_by_label("File", exact=True).set_input_files(file(b"x" * (2**20 + 1)))
    page.get_by_role("button", name="Validate only").click()
    expect(page.get_by_role("alert")).to_contain_text("larger than 1 MiB")
    assert "POST" not in sent


def test_without_javascript(chromium: Browser, small_service: tuple[str, Services]) -> None:
    url, services = small_service
    context = chromium.new_context(base_url=url, java_script_enabled=False)
    page = context.new_page()
    enter(page, services)
    page.get_by_label("File", exact=True).set_input_files(file(BROKEN, "broken.csv"))
    page.get_by_role("button", name="Validate only").click()
    expect(page.get_by_role("heading", name="This file would be refused whole")).to_be_visible()
    page.get_by_label("File", exact=True).set_input_files(file(jsonl(GOOD)))
    page.get_by_label("Name").fill("Plain")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Plain")).to_be_visible()
    Worker(services).run_until_idle()
    page.reload()
    expect(page.locator("#scores tr[data-metric=em] td").first).to_have_text("60.0")
    context.close()


def test_text_of_others_does_not_run(context: BrowserContext, small_service: tuple[str, Services]) -> None:
    _, services = small_service
    page = context.new_page()
    enter(page, services, EVIL)
    page.get_by_label("File", exact=True).set_input_files(
        file(jsonl([{"question": EVIL, "answer": EVIL, "attribution": EVIL}, *GOOD]), f"{EVIL[:20]}.jsonl")
    )
    page.get_by_role("button", name="Validate only").click()
    expect(page.locator(".places")).to_contain_text("onerror")
    page.get_by_label("Name").fill(EVIL)
    page.get_by_label("Description").fill(EVIL)
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/submissions/*")
    Worker(services).run_until_idle()
    expect(page.locator("#scores")).to_be_visible()
    assert page.evaluate("window.ran") is None
    page.goto("/submissions")
    expect(page.locator("main").get_by_role("link", name=EVIL)).to_be_visible()
    assert page.locator("main img").count() == 0
    assert page.evaluate("window.ran") is None


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_no_page_is_wider_than_the_screen(
    context: BrowserContext, small_service: tuple[str, Services], width: int
) -> None:
    url, services = small_service
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": 900})
    enter(page, services, "A team whose name is long enough to need two lines of any header")
    with httpx.Client(base_url=url) as client:
        fields = {"benchmark": "small", "system": "W" * 120, "publish": "true", "description": "d" * 400}
        headers = bearer(services, "A team whose name is long enough to need two lines of any header")
        made = client.post(f"{API}/submissions", data=fields, files={"file": ("a", jsonl(GOOD))}, headers=headers)
    Worker(services).run_until_idle()
    for path in (*PAGES, f"/submissions/{made.json()['id']}"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        screenshot(
            page, f"pages-{path.strip('/').split('/')[0] or 'home'}{'-one' if path.count('/') > 1 else ''}-{width}"
        )


def test_the_board_stands_beside_the_pages_under_its_policy(
    context: BrowserContext, small_service: tuple[str, Services]
) -> None:
    _, services = small_service
    page = context.new_page()
    enter(page, services)
    page.get_by_label("File", exact=True).set_input_files(file(jsonl(GOOD)))
    page.get_by_label("Name").fill("Seen on the board")
    page.get_by_label("Publish it once it is scored").check()
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/submissions/*")
    Worker(services).run_until_idle()
    page.get_by_role("link", name="the board").click()
    page.wait_for_url("**/leaderboard/?benchmark=small")
    expect(page.get_by_text("Seen on the board").first).to_be_visible()
    screenshot(page, "pages-to-the-board-1280")
