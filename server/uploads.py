"""Refuses bodies that are too large before they are read, in a way that senders get to see."""

from __future__ import annotations

import time

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.errors import TooLarge
from server.errors import body

_DRAIN_SECONDS = 20.0


class UploadLimit:
    """ASGI middleware: a declared length over `limit` bytes is answered with 413 at once.

    The rest of the body is then thrown away for a while, unread, since most senders look for an answer only
    when they are done sending and would otherwise see a broken connection. Bodies of undeclared length are
    counted by Flask while it reads them.
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _declared(scope) <= self.limit:
            await self.app(scope, receive, send)
            return
        error = TooLarge(f"The request is larger than {self.limit // 2**20} MiB.", "Send the file gzipped, or smaller.")
        content = orjson.dumps(body(error))
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(content)).encode()),
            (b"connection", b"close"),
        ]
        await send({"type": "http.response.start", "status": error.status, "headers": headers})
        await send({"type": "http.response.body", "body": content, "more_body": True})
        await _drain(receive)
        await send({"type": "http.response.body", "body": b""})


def _declared(scope: Scope) -> int:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(lengths[0]) if lengths and lengths[0].isdigit() else 0


async def _drain(receive: Receive) -> None:
    until = time.monotonic() + _DRAIN_SECONDS
    while time.monotonic() < until:
        message: Message = await receive()
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            return
