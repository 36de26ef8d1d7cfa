"""Fixtures for tests of the doors."""

from __future__ import annotations

from pathlib import Path

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient

from server import web
from server.bootstrap import Services
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
