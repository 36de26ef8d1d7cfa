"""Fixtures for tests of the doors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient

from core.settings import Settings
from server import web
from server.bootstrap import Services, build
from tests import fake_hub
from tests.fake_hub import FakeHub
from tests.hub_server import Hub, serving
from tests.small_benchmark import add_benchmark


@pytest.fixture
def web_app(services: Services, tmp_path: Path) -> APIFlask:
    """The Flask application over the small benchmark."""
    add_benchmark(services, tmp_path / "files")
    return web.create(services)


@pytest.fixture
def client(web_app: APIFlask) -> FlaskClient:
    """A client of that application."""
    return web_app.test_client()


@pytest.fixture
def quiet_client(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The Hub's client library without telemetry and progress bars, and with a cache of the test's own."""
    from huggingface_hub import constants
    from huggingface_hub.utils import disable_progress_bars, enable_progress_bars

    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub-cache"))
    disable_progress_bars()
    yield
    enable_progress_bars()


@pytest.fixture
def hub(sqlite_url: str, tmp_path: Path, quiet_client: None) -> Iterator[Hub]:
    """The Hub-like endpoint on a real socket over the small benchmark; jobs wait until the test does them."""
    settings = Settings(
        judge="token-overlap", data_dir=str(tmp_path / "data"), database_url=sqlite_url, bootstrap_resamples=499
    )
    wired = build(settings)
    add_benchmark(wired, tmp_path / "files")
    with serving(wired) as url:
        yield Hub(url, wired, tmp_path / "cache")
    wired.database.engine.dispose()


@pytest.fixture
def any_hub(services: Services, tmp_path: Path, quiet_client: None) -> Iterator[Hub]:
    """The same on a database of each kind."""
    add_benchmark(services, tmp_path / "files")
    with serving(services) as url:
        yield Hub(url, services, tmp_path / "cache")


@pytest.fixture
def fake(quiet_client: None) -> Iterator[FakeHub]:
    """A small Hub on a real socket."""
    with fake_hub.serving(FakeHub()) as started:
        yield started


@pytest.fixture
def two(postgres_url: str, tmp_path: Path) -> Iterator[tuple[Services, Services]]:
    """Two processes at one PostgreSQL, which has the small benchmark."""
    settings = Settings(judge="token-overlap", data_dir=str(tmp_path / "data"), database_url=postgres_url)
    both = build(settings), build(settings)
    add_benchmark(both[0], tmp_path / "files")
    yield both
    for each in both:
        each.database.engine.dispose()
