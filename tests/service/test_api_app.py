"""The one process on a real socket: the board beside the pages, the embedded worker, and limits that senders see."""

from __future__ import annotations

import dataclasses
import http.client
import socket
import threading
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from server.bootstrap import Services, build
from tests.live_server import serving
from tests.small_benchmark import GOOD, add_benchmark, jsonl
from tests.web_client import API, token


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Services]]:
    """A service that takes files of 1 MiB, with its worker inside."""
    from core.settings import Settings

    folder = tmp_path_factory.mktemp("live")
    services = build(
        Settings(
            judge="token-overlap",
            data_dir=str(folder / "data"),
            bootstrap_resamples=199,
            max_file_mb=1,
            poll_seconds=0.05,
        )
    )
    services.database.ensure_current()
    add_benchmark(services, folder / "files")
    with serving(services) as url:
        yield url, services
    services.database.engine.dispose()


def test_board_pages_and_api_in_one_process(live: tuple[str, Services]) -> None:
    url, _ = live
    for path in ("/leaderboard", "/leaderboard?benchmark=small"):
        moved = httpx.get(url + path)
        assert (moved.status_code, moved.headers["location"]) == (307, path.replace("/leaderboard", "/leaderboard/"))
    board = httpx.get(f"{url}/leaderboard/", timeout=30)
    assert (board.status_code, "gradio" in board.text) == (200, True)
    assert "frame-ancestors 'none'" in board.headers["content-security-policy"]
    assert board.headers["x-content-type-options"] == "nosniff"
    assert httpx.get(f"{url}/").status_code == 200
    assert httpx.get(f"{url}{API}/benchmarks").json()["benchmarks"][0]["id"] == "small"
    assert httpx.get(f"{url}/nothing").status_code == 404


def test_the_embedded_worker_scores_what_is_sent(live: tuple[str, Services]) -> None:
    url, services = live
    with httpx.Client(base_url=url + API, headers={"Authorization": f"Bearer {token(services, 'one')}"}) as client:
        fields = {"benchmark": "small", "system": "S", "publish": "true"}
        sent = client.post("/submissions", data=fields, files={"file": ("a.jsonl", jsonl(GOOD))})
        assert sent.status_code == 201
        for _ in range(200):
            entry = client.get(f"/submissions/{sent.json()['id']}").json()
            if entry["state"] == "scored":
                break
            time.sleep(0.05)
        assert entry["state"] == "scored"
        assert [row["system"] for row in client.get("/leaderboard?benchmark=small").json()["rows"]] == ["S"]


def multipart(size: int) -> tuple[bytes, str]:
    head = b"".join(
        b'--B\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % pair
        for pair in ((b"benchmark", b"small"), (b"system", b"Big"))
    )
    head += b'--B\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n'
    return head + b"x" * size + b"\r\n--B--\r\n", "multipart/form-data; boundary=B"


@pytest.mark.parametrize("signed", [True, False])
def test_a_sender_sees_why_a_large_file_is_refused(live: tuple[str, Services], signed: bool) -> None:
    url, services = live
    body, kind = multipart(24 * 2**20)
    headers = {"Content-Type": kind}
    if signed:
        headers["Authorization"] = f"Bearer {token(services, 'one')}"
    # http.client looks for the answer only when all is sent, like most clients.
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    connection.request("POST", f"{API}/submissions", body, headers)
    answer = connection.getresponse()
    assert answer.status == (413 if signed else 401)
    assert b'"hint"' in answer.read()


def test_a_large_file_is_refused_before_it_is_read(live: tuple[str, Services]) -> None:
    url, services = live
    host, port = urlsplit(url).netloc.split(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(
            f"POST {API}/submissions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token(services, 'one')}\r\n"
            f"Content-Type: multipart/form-data; boundary=B\r\nContent-Length: {10**12}\r\n\r\n--B\r\n".encode()
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 413"), "the answer came though next to nothing was sent"


def test_files_of_undeclared_length(live: tuple[str, Services]) -> None:
    url, services = live
    for size, expected in ((1000, 422), (8 * 2**20, 413)):
        body, kind = multipart(size)
        pieces = (body[at : at + 65536] for at in range(0, len(body), 65536))
        headers = {"Authorization": f"Bearer {token(services, 'one')}", "Content-Type": kind}
        answer = httpx.post(f"{url}{API}/submissions", content=pieces, headers=headers, timeout=30)
        assert answer.status_code == expected, answer.text


def workers() -> int:
    return sum(thread.name == "worker" for thread in threading.enumerate())


@pytest.mark.parametrize("wanted", [True, False])
def test_the_worker_comes_and_goes_with_the_process(services: Services, wanted: bool) -> None:
    chosen = build(dataclasses.replace(services.settings, embedded_worker=wanted))
    before = workers()
    with serving(chosen) as url:
        assert httpx.get(f"{url}/readyz").status_code == 200
        assert workers() == before + wanted
    assert workers() == before
    chosen.database.engine.dispose()
