"""The team's page in a browser: a token made and revoked, a name hidden, and a team that registers itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from core.settings import Settings
from server.bootstrap import build
from tests.live_server import serving
from tests.small_benchmark import add_benchmark
from tests.web_client import token

pytestmark = pytest.mark.browser


def test_a_team_looks_after_itself(chromium: Browser, tmp_path: Path) -> None:
    wired = build(Settings(data_dir=str(tmp_path / "data"), open_registration=True, embedded_worker=False))
    wired.database.ensure_current()
    add_benchmark(wired, tmp_path / "files")
    page = chromium.new_page()
    told: list[str] = []
    page.on("console", lambda message: told.append(message.text) if message.type == "error" else None)
    with serving(wired) as url:
        page.goto(f"{url}/sign-in")
        page.get_by_role("link", name="Make a team").click()
        page.get_by_label("The team's name").fill("Browser team")
        page.get_by_role("button", name="Make the team").click()
        expect(page.locator("#secret code")).to_contain_text("aqa_")
        page.locator(".aqa-team summary").click()
        page.get_by_role("link", name="Team, tokens").click()
        expect(page.locator("#quota")).to_contain_text("0 of")
        page.get_by_label("Label of a new token").fill("laptop")
        page.get_by_role("button", name="Make a token").click()
        secret = page.locator("#secret code").inner_text()
        row = page.locator("#tokens tbody tr").filter(has_text="laptop")
        row.get_by_role("button", name="Revoke").click()
        expect(page.locator("#tokens tbody tr").filter(has_text="laptop")).to_contain_text("revoked")
        expect(page.locator("#secret")).to_have_count(0)
        page.get_by_label("Name to show").fill("Anonymous 7")
        page.get_by_label("Last day").fill("2000-01-01")
        page.get_by_role("button", name="Hide the team's name").click()
        expect(page.get_by_role("alert")).to_contain_text("up to a year")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.locator(".aqa-team summary").click()
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url(f"{url}/")
        page.goto(f"{url}/sign-in")
        page.get_by_label("Token").fill(secret)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("revoked")
        page.get_by_label("Token").fill(token(wired, "Browser team"))
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Browser team")
        page.close()
    wired.database.engine.dispose()
    assert [line for line in told if "401" not in line and "400" not in line] == []
