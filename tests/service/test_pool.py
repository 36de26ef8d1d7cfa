"""Connections to the database: as many as the settings say, and a clear word when all are in use."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy.exc import TimeoutError as NoneFree

from core.settings import Settings
from server import web
from server.bootstrap import Services, build
from tests.small_benchmark import add_benchmark


@pytest.fixture
def few(settings: Settings) -> Iterator[Services]:
    """Two connections that are kept, one more at need, 0.2 s of patience."""
    wired = build(dataclasses.replace(settings, pool_size=2, pool_overflow=1, pool_timeout=0.2))
    yield wired
    wired.database.engine.dispose()


def test_the_settings_reach_the_pool(few: Services) -> None:
    pool = few.database.engine.pool
    begun = time.monotonic()
    with ExitStack() as held:
        for _ in range(3):
            held.enter_context(few.database.engine.connect())
        assert (pool.size(), pool.checkedout()) == (2, 3)
        with pytest.raises(NoneFree):
            few.database.engine.connect()
    assert 0.2 <= time.monotonic() - begun < 5
    assert (pool.checkedin(), pool.checkedout()) == (2, 0), "what came beyond the size is closed again"


def test_a_request_that_gets_no_connection_is_told(few: Services, tmp_path: Path) -> None:
    add_benchmark(few, tmp_path / "files")
    client = web.create(few).test_client()
    with ExitStack() as held:
        for _ in range(3):
            held.enter_context(few.database.engine.connect())
        for address in ("/api/v1/benchmarks", "/api/v1/leaderboard?benchmark=small", "/readyz"):
            answer = client.get(address)
            assert answer.status_code == 503, answer.text
        assert client.get("/healthz").status_code == 200
        assert client.get("/api/v1/benchmarks").json["error"]["message"].startswith("The service is busy")
    assert client.get("/api/v1/benchmarks").status_code == 200


def test_a_database_in_memory_has_no_pool_to_size(tmp_path: Path) -> None:
    wired = build(Settings(data_dir=str(tmp_path), database_url="sqlite://", pool_size=3))
    wired.database.ping()
    wired.database.engine.dispose()
