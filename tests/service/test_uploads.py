"""Files in pieces: resumed after a break, taken once, bounded, and submitted like any other file."""

from __future__ import annotations

import dataclasses
import gzip
import json
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select, update

from core.errors import Refused, TooLarge, Unavailable
from core.tables import Submission, Upload
from core.tables.base import utc_now
from server import client as client_module
from server import web
from server.bootstrap import Services, build
from server.client import Client
from server.worker import Worker
from submissions.intake import SystemCard
from tests.small_benchmark import GOOD, add_benchmark, jsonl
from tests.web_client import API, bearer, token

DATA = jsonl(GOOD)
SAID = {"benchmark": "small", "system": "S"}


def begin(client: FlaskClient, headers: dict[str, str], size: int = len(DATA)) -> str:
    made = client.post(f"{API}/uploads", headers=headers, json={"name": "a.jsonl", "size": size})
    assert (made.status_code, made.json["received"]) == (201, 0), made.text
    return f"{API}/uploads/{made.json['id']}"


def put(client: FlaskClient, headers: dict[str, str], at: str, start: int, piece: bytes, size: int = len(DATA)):
    where = {"Content-Range": f"bytes {start}-{start + len(piece) - 1}/{size}"}
    return client.put(at, headers={**headers, **where}, data=piece)


def blobs(services: Services) -> int:
    return len(list(services.blobs.keys()))


def test_a_file_in_pieces_is_the_same_file(client: FlaskClient, services: Services) -> None:
    headers = bearer(services)
    at = begin(client, headers)
    assert client.post(f"{at}/finish", headers=headers, json=SAID).status_code == 409, "nothing came yet"
    for start in range(0, len(DATA), 100):
        assert put(client, headers, at, start, DATA[start : start + 100]).status_code == 200
    made = client.post(f"{at}/finish", headers=headers, json=SAID | {"publish": True, "links": ["https://x.org"]})
    assert (made.status_code, made.json["published"], made.json["links"]) == (201, True, ["https://x.org"])
    again = client.post(f"{at}/finish", headers=headers, json=SAID)
    assert (again.status_code, again.json["id"]) == (201, made.json["id"])
    assert client.get(at, headers=headers).status_code == 404
    assert blobs(services) == 1, "the pieces are gone"
    Worker(services).run_until_idle()
    with services.database.reading() as session:
        row = session.scalars(select(Submission)).one()
        with services.blobs.open(row.file_blob) as stream:
            assert stream.read() == DATA
        assert (row.state, row.file_name) == ("scored", "a.jsonl")


def test_it_goes_on_where_it_broke_off(client: FlaskClient, services: Services) -> None:
    headers = bearer(services)
    at = begin(client, headers)
    assert put(client, headers, at, 0, DATA[:200]).json["received"] == 200
    again = put(client, headers, at, 0, DATA[:200])
    assert (again.status_code, again.json["received"]) == (200, 200), "a piece said again does no harm"
    gap = put(client, headers, at, 300, DATA[300:])
    assert (gap.status_code, "200 bytes are here" in gap.json["error"]["message"]) == (409, True)
    assert client.get(at, headers=headers).json["received"] == 200
    assert put(client, headers, at, 200, DATA[200:]).json["received"] == len(DATA)
    assert client.post(f"{at}/finish", headers=headers, json=SAID).status_code == 201


@pytest.mark.parametrize(
    "where",
    [
        "",
        "bytes 0-9",
        "bytes 0-9/10",
        "bytes 5-1/{n}",
        "bytes 0-{n}/{n}",
        "bytes */{n}",
        "items 0-9/{n}",
        "bytes -1-9/{n}",
    ],
)
def test_bad_ranges(client: FlaskClient, services: Services, where: str) -> None:
    headers = bearer(services)
    at = begin(client, headers)
    answer = client.put(at, headers={**headers, "Content-Range": where.format(n=len(DATA))}, data=b"x" * 10)
    assert (answer.status_code, answer.json["error"]["code"]) == (400, "invalid_input")


def test_more_or_fewer_bytes_than_said(client: FlaskClient, services: Services) -> None:
    headers = bearer(services)
    at = begin(client, headers)
    for body in (b"x" * 9, b"x" * 11, b""):
        where = {"Content-Range": f"bytes 0-9/{len(DATA)}"}
        assert client.put(at, headers={**headers, **where}, data=body).status_code == 400
    assert client.get(at, headers=headers).json["received"] == 0


def test_bounds(services: Services, tmp_path: Path) -> None:
    small = build(dataclasses.replace(services.settings, max_file_mb=3, upload_chunk_mb=1))
    add_benchmark(small, tmp_path / "files")
    client, headers = web.create(small).test_client(), bearer(services)
    assert client.post(f"{API}/uploads", headers=headers, json={"size": 3 * 2**20 + 1}).status_code == 413
    for wrong in ({"size": 0}, {"size": "many"}, {"size": 2**60}, {}, {"size": 9, "name": "x" * 300}):
        assert client.post(f"{API}/uploads", headers=headers, json=wrong).status_code == 400, wrong
    size = 3 * 2**20
    at = begin(client, headers, size)
    assert put(client, headers, at, 0, b"x" * (2**20 + 1), size).status_code == 413
    huge = client.put(at, headers={**headers, "Content-Range": f"bytes 0-9/{size}"}, data=b"x" * (2**20 + 2))
    assert huge.status_code in (400, 413)
    for _ in range(3):
        begin(client, headers, size)
    assert client.post(f"{API}/uploads", headers=headers, json={"size": 9}).status_code == 409, "too many on their way"
    assert client.delete(at, headers=headers).status_code == 204
    begin(client, headers, 9)


def test_what_is_refused_is_refused_whole(client: FlaskClient, services: Services) -> None:
    headers = bearer(services)
    bad = jsonl([*GOOD, GOOD[0]])
    at = begin(client, headers, len(bad))
    put(client, headers, at, 0, bad, len(bad))
    refused = client.post(f"{at}/finish", headers=headers, json=SAID)
    assert (refused.status_code, refused.json["error"]["places"][0]["kind"]) == (422, "duplicate_question")
    assert client.post(f"{at}/finish", headers=headers, json={**SAID, "unknown": 1}).status_code == 400
    assert client.delete(at, headers=headers).status_code == 204
    assert blobs(services) == 0


def test_old_ones_are_dropped(client: FlaskClient, services: Services) -> None:
    headers = bearer(services)
    at = begin(client, headers)
    put(client, headers, at, 0, DATA[:50])
    with services.database.transaction() as session:
        session.execute(update(Upload).values(created_at=utc_now() - timedelta(days=2)))
    begin(client, bearer(services, "two"))
    assert client.get(at, headers=headers).status_code == 404
    assert blobs(services) == 0


class Breaking(httpx.BaseTransport):
    """Passes requests on to the application; every third piece is lost, sometimes only its answer."""

    def __init__(self, app) -> None:
        self.inner = httpx.WSGITransport(app=app)
        self.pieces = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "PUT":
            self.pieces += 1
            if self.pieces % 3 == 1:
                raise httpx.ConnectError("lost on the way")
            if self.pieces % 3 == 2:
                self.inner.handle_request(request)
                raise httpx.ReadError("the answer was lost")
        return self.inner.handle_request(request)


@pytest.fixture
def breaking(services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Breaking:
    monkeypatch.setattr(client_module, "_LARGE", 1_000)
    small = build(dataclasses.replace(services.settings, upload_chunk_mb=1, max_file_mb=4))
    add_benchmark(small, tmp_path / "files")
    return Breaking(web.create(small))


def padded(size: int) -> bytes:
    """The good predictions with a note that makes the file large."""
    note = "".join(f"{number:x}" for number in range(size // 6))
    rows = [dict(row) for row in GOOD]
    rows[0]["metadata"] = note
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def test_the_client_sends_large_files_in_pieces(breaking: Breaking, services: Services, tmp_path: Path) -> None:
    file = tmp_path / "large.jsonl.gz"
    file.write_bytes(gzip.compress(padded(900_000), compresslevel=0, mtime=0))
    card = SystemCard("Large", "other", "NQ", "about", ("https://x.org",), True)
    speaker = Client("http://service", token(services, "one"), breaking)
    entry = speaker.submit(file, "small", card, publish=True)
    assert (entry["system"], entry["links"], entry["uses_autoais"], entry["published"]) == (
        "Large", ["https://x.org"], True, True,
    )  # fmt: skip
    assert breaking.pieces >= 3
    with services.database.reading() as session:
        row = session.scalars(select(Submission)).one()
        assert session.scalar(select(func.count()).select_from(Upload)) == 0
    with services.blobs.open(row.file_blob) as stream:
        assert stream.read() == file.read_bytes()


def test_the_client_tells_why_and_leaves_nothing(breaking: Breaking, services: Services, tmp_path: Path) -> None:
    file, card = tmp_path / "twice.jsonl", SystemCard("S", "other")
    file.write_bytes(DATA * 9)
    speaker = Client("http://service", token(services, "one"), breaking)
    with pytest.raises(Refused) as raised:
        speaker.submit(file, "small", card, publish=False)
    assert raised.value.places[0].kind == "duplicate_question"
    assert blobs(services) == 0
    file.write_bytes(b"x" * (5 * 2**20))
    with pytest.raises(TooLarge):
        speaker.submit(file, "small", card, publish=False)
    breaking.inner.app = _away
    with pytest.raises(Unavailable):
        speaker.submit(file, "small", card, publish=False)


def _away(*_: object) -> list[bytes]:
    raise httpx.ConnectError("nobody is there")
