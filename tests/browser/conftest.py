"""Headless Chromium, a live service to look at, and where screenshots go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from core.settings import Settings
from server.bootstrap import Services, build
from tests.conftest import IN_CI
from tests.live_server import serving
from tests.small_benchmark import add_benchmark

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
expect.set_options(timeout=60_000)  # pages come late on a busy machine; Playwright gives them 5 seconds
SCREENSHOTS = Path(__file__).parents[2] / "screenshots"


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for all tests; each opens its own context."""
    if not CHROMIUM.exists() and not IN_CI:
        pytest.skip(f"no browser at {CHROMIUM}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(services: Services) -> Iterator[str]:
    """Where the `services` of a module are served."""
    with serving(services) as url:
        yield url


@pytest.fixture
def small_service(tmp_path: Path) -> Iterator[tuple[str, Services]]:
    """A service over the small benchmark without a worker, so that a test decides when work is done."""
    settings = Settings(
        judge="token-overlap",
        data_dir=str(tmp_path / "data"),
        bootstrap_resamples=199,
        embedded_worker=False,
        max_file_mb=1,
    )
    services = build(settings)
    services.database.ensure_current()
    add_benchmark(services, tmp_path / "files", title="Small benchmark", synthetic=True)
    with serving(services) as url:
        yield url, services
    services.database.engine.dispose()


def screenshot(page: Page, name: str) -> None:
    """Keep the whole page for people to look at."""
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)
