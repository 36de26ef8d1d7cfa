"""The board's requests are counted by address, its files are free, and a store of counts that is away stops nobody."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from core.errors import InvalidInput
from core.settings import Settings
from server import limits
from server.board_limits import BoardLimits
from server.bootstrap import build
from server.seldom_warning import SeldomWarning
from tests.live_server import serving
from tests.small_benchmark import add_benchmark


def counted(address: str = "198.51.100.1", **settings: str) -> TestClient:
    async def answer(request: object) -> PlainTextResponse:
        return PlainTextResponse("here")

    app = Starlette(routes=[Route("/{path:path}", answer)])
    app.add_middleware(BoardLimits, path="/leaderboard", settings=Settings(**settings))
    return TestClient(app, client=(address, 1))


def statuses(client: TestClient, path: str, times: int) -> list[int]:
    return [client.get(path).status_code for _ in range(times)]


def test_an_address_is_stopped_and_told_when_to_come_back() -> None:
    client = counted(rate_limit_board="3 per minute")
    assert statuses(client, "/leaderboard/", 5) == [200, 200, 200, 429, 429]
    refused = client.get("/leaderboard/gradio_api/queue/join")
    assert (refused.status_code, refused.headers["content-type"]) == (429, "text/plain; charset=utf-8")
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert client.get("/leaderboard").status_code == 429
    assert counted(rate_limit_board="3 per minute", address="2001:db8::1").get("/leaderboard/").status_code == 200


def test_files_and_other_pages_are_not_counted() -> None:
    client = counted(rate_limit_board="1 per minute")
    for path in (
        "/leaderboard/assets/x.js",
        "/leaderboard/static/x.png",
        "/leaderboard/theme.css",
        "/docs",
        "/leaderboards",
    ):
        assert statuses(client, path, 4) == [200] * 4, path
    assert statuses(client, "/leaderboard/", 2) == [200, 429]
    assert client.get("/leaderboard/assets").status_code == 200


def test_no_limit_and_several() -> None:
    assert set(statuses(counted(rate_limit_board=""), "/leaderboard/", 50)) == {200}
    both = counted(rate_limit_board="5 per minute; 2 per second")
    assert 429 in statuses(both, "/leaderboard/", 5)


def test_a_store_that_is_away_leaves_each_process_its_own_count() -> None:
    client = counted(rate_limit_board="2 per minute", rate_limit_storage="redis://127.0.0.1:1/0")
    assert statuses(client, "/leaderboard/", 4) == [200, 200, 429, 429]


def test_a_flood_does_not_fill_the_log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("server.board_limits.SeldomWarning", lambda log: SeldomWarning(log, clock=lambda: now[0]))
    client = counted(rate_limit_board="2 per minute", rate_limit_storage="redis://127.0.0.1:1/0")
    with caplog.at_level("WARNING", "aqa.web"):
        statuses(client, "/leaderboard/", 30)
        now[0] += 61
        statuses(client, "/leaderboard/", 2)
    said = "the store of request counts does not answer: ConnectionError"
    mine = [record.getMessage() for record in caplog.records if record.name == "aqa.web"]
    assert mine == [said, f"{said} (and 29 times since this was last said)"]


def test_a_rate_that_cannot_be_read_is_named() -> None:
    with pytest.raises(InvalidInput, match="AQA_RATE_LIMIT_BOARD"):
        limits.check(Settings(rate_limit_board="often"))


def test_inside_the_whole_service(sqlite_url: str, tmp_path: Path) -> None:
    settings = Settings(data_dir=str(tmp_path / "data"), database_url=sqlite_url, embedded_worker=False)
    services = build(dataclasses.replace(settings, rate_limit_board="4 per hour", rate_limit=""))
    add_benchmark(services, tmp_path / "files")
    with serving(services) as url, httpx.Client(base_url=url, timeout=30) as client:
        seen = [client.get("/leaderboard/").status_code for _ in range(5)]
        refused = client.get("/leaderboard/config")
        assert (seen, refused.status_code) == ([200] * 4 + [429], 429)
        assert refused.headers["X-Content-Type-Options"] == "nosniff", "the secure headers are on it, too"
        assert client.get("/docs").status_code == 200
    services.database.engine.dispose()
