"""Submitted files come back to their team: from this disk, or straight from the object store by a short-lived link."""

from __future__ import annotations

import dataclasses
import io
import secrets
import urllib.request
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from flask.testing import FlaskClient

from core.s3_blobs import S3Blobs
from server import web
from server.bootstrap import Services, build
from tests.small_benchmark import GOOD, add_benchmark, jsonl
from tests.web_client import API, bearer, sign_in, submit, token

LARGE = jsonl(GOOD) + b"\n" * (1_100_000)
"""Blank lines do not count, so this is a file of over 1 MiB."""


def test_the_file_as_it_was_sent(client: FlaskClient, services: Services) -> None:
    headers = bearer(services)
    at = submit(client, headers, file=(io.BytesIO(jsonl(GOOD)), "evil\u202e\u00e4\u6587.jsonl"))
    got = client.get(f"{API}/submissions/{at}/file", headers=headers)
    assert (got.status_code, got.data) == (200, jsonl(GOOD))
    assert got.headers["Content-Disposition"].startswith("attachment")
    named = got.headers["Content-Disposition"]
    assert named.isascii(), "a header that is not Latin breaks the connection"
    assert "filename*=UTF-8''" in named
    assert named.endswith("il_%C3%A4%E6%96%87.jsonl")
    assert got.headers["X-Content-Type-Options"] == "nosniff"
    assert got.mimetype == "application/octet-stream"
    sign_in(client, token(services, "one"))
    assert client.get(f"/submissions/{at}/file").data == jsonl(GOOD)


def test_only_its_team_and_maintainers_get_it(client: FlaskClient, services: Services) -> None:
    at = submit(client, bearer(services), publish="true")
    for team, role, status in (("two", "team", 404), ("eyes", "rater", 404), ("house", "maintainer", 200)):
        assert client.get(f"{API}/submissions/{at}/file", headers=bearer(services, team, role)).status_code == status
    assert client.get(f"{API}/submissions/{at}/file").status_code == 401


@pytest.fixture
def on_s3(services: Services, tmp_path: Path, s3_endpoint: str) -> Services:
    add_benchmark(services, tmp_path / "files")
    prefix = f"s3://aqa-blobs/{secrets.token_hex(6)}"
    store = {"blobs": prefix, "s3_endpoint": s3_endpoint, "s3_public_endpoint": s3_endpoint}
    return build(dataclasses.replace(services.settings, **store, s3_link_mb=1))


@pytest.mark.service
def test_a_large_file_comes_straight_from_the_object_store(on_s3: Services, s3_endpoint: str) -> None:
    client, headers = web.create(on_s3).test_client(), bearer(on_s3)
    large = submit(client, headers, system="Large", file=(io.BytesIO(LARGE), "large.jsonl"))
    small = submit(client, headers, system="Small", file=(io.BytesIO(jsonl(GOOD[:3])), "small.jsonl"))
    link = client.get(f"{API}/submissions/{large}/file", headers=headers)
    assert link.status_code == 302
    assert link.headers["Cache-Control"] == "no-store"
    assert link.location.startswith(f"{s3_endpoint}/aqa-blobs/")
    asked = parse_qs(urlsplit(link.location).query)
    assert asked["X-Amz-Expires"] == ["300"]
    assert asked["response-content-disposition"] == ['attachment; filename="large.jsonl"']
    assert asked["response-content-type"] == ["application/octet-stream"]
    with urllib.request.urlopen(link.location) as answer:
        assert answer.read() == LARGE
    stranger = client.get(f"{API}/submissions/{large}/file", headers=bearer(on_s3, "two"))
    assert (stranger.status_code, stranger.location) == (404, None), "asked first, linked then"
    direct = client.get(f"{API}/submissions/{small}/file", headers=headers)
    assert (direct.status_code, direct.data) == (200, jsonl(GOOD[:3]))
    forged = link.location.replace(asked["X-Amz-Signature"][0], "0" * 64)
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(forged)


@pytest.mark.service
def test_it_can_be_turned_off_and_told_to_users_under_another_address(on_s3: Services, s3_endpoint: str) -> None:
    client, headers = web.create(on_s3).test_client(), bearer(on_s3)
    at = submit(client, headers, file=(io.BytesIO(LARGE), "large.jsonl"))
    for off in ({"s3_link_mb": 0}, {"s3_public_endpoint": ""}):
        through = web.create(build(dataclasses.replace(on_s3.settings, **off))).test_client()
        got = through.get(f"{API}/submissions/{at}/file", headers=headers)
        assert (got.status_code, got.data == LARGE) == (200, True)
    public = s3_endpoint.replace("127.0.0.1", "localhost")
    elsewhere = web.create(build(dataclasses.replace(on_s3.settings, s3_public_endpoint=public))).test_client()
    link = elsewhere.get(f"{API}/submissions/{at}/file", headers=headers).location
    assert link.startswith(f"{public}/aqa-blobs/")
    with urllib.request.urlopen(link) as answer:
        assert answer.read() == LARGE


@pytest.mark.service
def test_a_store_that_is_away_is_said_to_be(services: Services, s3_endpoint: str, tmp_path: Path) -> None:
    from core.errors import Unavailable

    away = S3Blobs("s3://aqa-blobs/x", "http://127.0.0.1:9")
    for call in (away.size, away.exists, away.delete, away.open):
        with pytest.raises(Unavailable, match="object store"):
            call("0" * 64)
