"""Flask under ASGI: small answers in one piece, long ones as they come."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from flask import Flask, Response, request
from starlette.types import Message

from server.wsgi import Wsgi
from tests.event_loop import run_async

PIECE = b"x" * 50_000


@pytest.fixture
def app() -> Flask:
    made = Flask("wsgi")
    made.add_url_rule("/small", "small", view_func=lambda: "small")
    made.add_url_rule("/echo", "echo", view_func=lambda: Response(request.get_data()), methods=["POST"])
    made.add_url_rule("/long", "long", view_func=lambda: Response(PIECE for _ in range(10)))
    made.add_url_rule("/broken", "broken", view_func=lambda: Response(_breaks()))
    return made


def _breaks() -> Iterator[bytes]:
    yield PIECE
    yield PIECE
    raise OSError("the disk went away")


def ask(app: Flask, path: str, method: str = "GET", body: bytes = b"") -> list[Message]:
    told: list[Message] = []
    threads: set[int] = set()

    async def receive() -> Message:
        threads.add(threading.get_ident())
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        threads.add(threading.get_ident())
        told.append(message)

    scope = {"type": "http", "http_version": "1.1", "method": method, "path": path, "query_string": b""}
    scope |= {"headers": [(b"content-length", b"%d" % len(body))], "server": ("x", 80), "client": ("c", 1)}

    async def served() -> None:
        threads.add(threading.get_ident())
        await Wsgi(app)(scope, receive, send)

    try:
        run_async(served())
    except OSError as error:
        told.append({"type": "error", "error": error})
    assert len(threads) == 1, "the server must be spoken to from its own thread only"
    return told


def test_a_small_answer_is_one_message(app: Flask) -> None:
    start, body = ask(app, "/small")
    assert (start["type"], start["status"]) == ("http.response.start", 200)
    assert (body["body"], body["more_body"]) == (b"small", False)


def test_a_body_is_read(app: Flask) -> None:
    assert ask(app, "/echo", "POST", b"hello")[1]["body"] == b"hello"


def test_a_long_answer_comes_in_pieces_and_whole(app: Flask) -> None:
    _, *pieces = ask(app, "/long")
    assert b"".join(each["body"] for each in pieces) == PIECE * 10
    assert len(pieces) > 3
    assert [each["more_body"] for each in pieces] == [True] * (len(pieces) - 1) + [False]


def test_an_answer_that_breaks_does_not_end_well(app: Flask) -> None:
    told = ask(app, "/broken")
    assert told[-1]["type"] == "error"
    assert not any(each["type"] == "http.response.body" and not each["more_body"] for each in told)


def test_a_head_has_no_body(app: Flask) -> None:
    start, body = ask(app, "/small", "HEAD")
    assert (start["status"], body["body"]) == (200, b"")
