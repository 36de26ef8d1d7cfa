"""Limits on requests: per token and per address, tighter where it costs, counted in Redis where that is wanted."""

from __future__ import annotations

import dataclasses
import secrets
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from server import web
from server.bootstrap import Services, build
from tests.small_benchmark import add_benchmark
from tests.web_client import API, bearer, csrf, form

LIMITS = {
    "rate_limit": "5 per hour",
    "rate_limit_files": "2 per hour",
    "rate_limit_sign_in": "3 per hour",
    "rate_limit_register": "1 per hour",
    "open_registration": True,
}


def limited(services: Services, **more: object) -> FlaskClient:
    return web.create(build(dataclasses.replace(services.settings, **{**LIMITS, **more}))).test_client()


def test_each_sender_has_its_own_count(services: Services) -> None:
    client = limited(services)
    one, two = bearer(services, "one"), bearer(services, "two")
    assert [client.get(f"{API}/me", headers=one).status_code for _ in range(6)] == [200] * 5 + [429]
    assert client.get(f"{API}/me", headers=two).status_code == 200
    refused = client.get(f"{API}/me", headers=one)
    assert refused.json["error"]["code"] == "too_many_requests"
    assert int(refused.headers["Retry-After"]) > 0
    assert refused.headers["X-Content-Type-Options"] == "nosniff"
    elsewhere = {"REMOTE_ADDR": "198.51.100.7"}
    assert [client.get(f"{API}/benchmarks").status_code for _ in range(6)][-1] == 429
    assert client.get(f"{API}/benchmarks", environ_overrides=elsewhere).status_code == 200
    page = client.get("/docs")
    assert (page.status_code, page.mimetype, "Too many requests" in page.text) == (429, "text/html", True)


def test_guessing_tokens_is_counted_by_address(services: Services) -> None:
    client = limited(services)
    guesses = [client.get(f"{API}/me", headers={"Authorization": f"Bearer aqa_{n}"}).status_code for n in range(7)]
    assert guesses == [401] * 5 + [429] * 2


def test_what_costs_has_a_tighter_limit(services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    client, one = limited(services, rate_limit="99 per hour"), bearer(services)
    sent = [client.post(f"{API}/validate", headers=one, data=form()).status_code for _ in range(3)]
    assert sent == [200, 200, 429]
    assert client.get(f"{API}/me", headers=one).status_code == 200
    field = csrf(client.get("/sign-in").text)
    signs = [client.post("/sign-in", data={"token": "aqa_x", "csrf": field}).status_code for _ in range(4)]
    assert signs == [401, 401, 401, 429]
    assert client.get("/sign-in").status_code == 200, "looking at the form is free"
    assert client.post(f"{API}/register", json={"team": "A"}).status_code == 201
    assert client.post(f"{API}/register", json={"team": "B"}).status_code == 429


def test_health_and_static_files_are_never_refused(services: Services) -> None:
    client = limited(services, rate_limit="1 per hour")
    for path in ("/healthz", "/readyz", "/static/style.css"):
        assert [client.get(path).status_code for _ in range(3)] == [200] * 3, path


def test_no_limit(services: Services) -> None:
    client = limited(services, rate_limit="", rate_limit_sign_in="")
    assert {client.get("/docs").status_code for _ in range(20)} == {200}


@pytest.mark.service
def test_several_servers_count_together_in_redis(services: Services) -> None:
    redis = pytest.importorskip("redis")
    try:
        redis.Redis(port=6379, socket_connect_timeout=2).ping()
    except redis.ConnectionError as error:
        pytest.skip(f"no Redis: {error}")
    address = {"REMOTE_ADDR": f"2001:db8::{secrets.token_hex(2)}:{secrets.token_hex(2)}"}
    first, second = (limited(services, rate_limit_storage="redis://127.0.0.1:6379/9") for _ in range(2))
    for client in (first, second, first, second, first):
        assert client.get("/docs", environ_overrides=address).status_code == 200
    assert second.get("/docs", environ_overrides=address).status_code == 429


def test_each_server_counts_for_itself_while_redis_is_away(services: Services) -> None:
    client = limited(services, rate_limit_storage="redis://127.0.0.1:1/0")
    assert [client.get("/docs").status_code for _ in range(6)] == [200] * 5 + [429]
