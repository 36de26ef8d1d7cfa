"""The editing track in headless Chromium: board, drawing, comparison, passages, links, phones, hostile text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from core.settings import Settings
from server.bootstrap import Services, build
from server.demo import editing
from server.worker import Worker
from tests.browser.conftest import screenshot
from tests.small_benchmark import add_team
from tests.small_editing import add_editing, send

pytestmark = pytest.mark.browser
expect.set_options(timeout=60_000)
PROBE = '<img src=x onerror="window.ran=1"><script>window.ran=1</script>{{7*7}}'


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Services:
    folder = tmp_path_factory.mktemp("editing")
    settings = Settings(
        judge="token-overlap", data_dir=str(folder / "data"), embedded_worker=False, bootstrap_resamples=999
    )
    made = build(settings)
    made.database.ensure_current()
    editing.load(made)
    add_editing(made, folder / "files", title=PROBE)
    report = [{"text": PROBE, "source": "javascript:window.ran=1", "query": PROBE}]
    send(made, add_team(made, PROBE[:60]), [{"id": "p0", "revised": PROBE, "report": report}], PROBE, publish=True)
    Worker(made).run_until_idle()
    return made


@pytest.fixture
def page(chromium: Browser, address: str) -> Iterator[Any]:
    """A page that fails its test if it throws or runs what a team wrote."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, base_url=address, reduced_motion="reduce")
    opened = context.new_page()
    opened.set_default_timeout(60_000)
    thrown: list[str] = []
    opened.on("pageerror", lambda error: thrown.append(str(error)))
    yield opened
    assert opened.evaluate("window.ran") is None
    assert thrown == []
    context.close()


def test_board_and_drawing(page: Any) -> None:
    page.goto("/leaderboard/editing")
    expect(page.get_by_role("link", name="Oracle-editor", exact=True)).to_be_visible()
    assert page.title().startswith("Editing")
    drawing = page.locator("#plot-trade-off .js-plotly-plot")
    expect(drawing).to_be_visible()
    expect(drawing).to_contain_text("F1 50")
    expect(drawing).to_contain_text("Attr AIS (synthetic ratings)")
    page.get_by_role("radio", name="Automatic").check()
    expect(drawing).to_contain_text("Attribution, Attr auto")
    page.wait_for_url("**/leaderboard/editing?benchmark=demo-editing&numbers=auto")
    page.get_by_role("button", name="Attr auto", exact=True).click()
    page.wait_for_url("**/leaderboard/editing?benchmark=demo-editing&sort=attr_auto&numbers=auto")
    page.get_by_label("Search").fill("editor")
    page.wait_for_url("**/leaderboard/editing?benchmark=demo-editing&q=editor&sort=attr_auto&numbers=auto")
    page.reload()
    expect(drawing).to_contain_text("Attribution, Attr auto")
    expect(page.get_by_role("radio", name="Automatic")).to_be_checked()
    page.wait_for_load_state("networkidle")
    assert page.url.endswith("/leaderboard/editing?benchmark=demo-editing&q=editor&sort=attr_auto&numbers=auto")
    page.get_by_role("radio", name="By people").check()
    page.wait_for_url("**/leaderboard/editing?benchmark=demo-editing&q=editor&sort=attr_auto")
    page.reload()
    expect(drawing).to_contain_text("Attr AIS (synthetic ratings)")
    page.wait_for_load_state("networkidle")
    assert page.url.endswith("/leaderboard/editing?benchmark=demo-editing&q=editor&sort=attr_auto")
    expect(page.locator("#fit-attribution")).to_contain_text("RARR reports Pearson r = 0.74")
    screenshot(page, "editing-board-1280")


def test_comparison_follows_the_link_and_leads_to_a_passage(page: Any) -> None:
    page.goto("/leaderboard/editing-compare")
    expect(page.locator("#comparison")).to_contain_text("Oracle-editor less")
    page.locator("#comparison table a").first.click()
    page.wait_for_url("**/editing-passages?**passage=**")
    expect(page.locator("#passage ins").first).to_be_visible()


def test_passage_shows_edits_evidence_and_votes(page: Any) -> None:
    page.goto("/leaderboard/editing-passages?benchmark=demo-editing&passage=13")
    section = page.get_by_role("region", name="Oracle-editor", exact=True)
    expect(section.locator("del").first).to_contain_text("Eagle")
    expect(section.locator("ins").first).to_contain_text("Aquarius")
    assert section.locator("del").first.evaluate("e => getComputedStyle(e).textDecorationLine") == "line-through"
    assert section.locator("ins").first.evaluate("e => getComputedStyle(e).textDecorationLine") == "underline"
    expect(section).to_contain_text("of 3")
    screenshot(page, "editing-passage-1280")
    page.get_by_role("button", name="Lake Baikal").click()
    expect(page.locator("#passage .original")).to_contain_text("Lake Baikal")
    page.wait_for_url("**/leaderboard/editing-passages?benchmark=demo-editing&passage=2")


def test_hostile_text_is_inert_everywhere(page: Any) -> None:
    for path in ("editing", "editing-compare", "editing-passages"):
        page.goto(f"/leaderboard/{path}?benchmark=edit")
        page.wait_for_load_state("networkidle")
        expect(page.locator("main").first).to_contain_text("onerror" if path != "editing-compare" else "two published")


@pytest.mark.parametrize("path", ["editing", "editing-compare", "editing-passages"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_on_a_phone(chromium: Browser, address: str, path: str, scheme: str) -> None:
    context = chromium.new_context(
        viewport={"width": 390, "height": 844}, base_url=address, color_scheme=scheme, reduced_motion="reduce"
    )  # fmt: skip
    page = context.new_page()
    page.goto(f"/leaderboard/{path}?benchmark=demo-editing")
    page.wait_for_load_state("networkidle")
    expect(page.get_by_text("Synthetic ratings").first).to_be_visible()
    screenshot(page, f"{path}-390-{scheme}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


def test_without_a_benchmark_of_the_track_it_says_what_to_do(
    chromium: Browser, small_service: tuple[str, Services]
) -> None:
    page = chromium.new_page(base_url=small_service[0])
    page.goto("/leaderboard/editing-passages")
    expect(page.get_by_text("There is no benchmark of the editing track yet.")).to_be_visible()
    page.close()
