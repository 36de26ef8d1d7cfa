"""Fixtures for tests of the doors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient

from server import web
from server.bootstrap import Services
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
def hub(services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """The Hub-like endpoint on a real socket over the small benchmark; jobs wait until the test does them."""
    from huggingface_hub import constants
    from huggingface_hub.utils import disable_progress_bars, enable_progress_bars

    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", True)
    disable_progress_bars()
    add_benchmark(services, tmp_path / "files")
    with serving(services) as url:
        yield Hub(url, services, tmp_path / "cache")
    enable_progress_bars()
