"""Lets a sender that was answered early finish its sending, so that it gets to see the answer."""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SECONDS = 20.0


class Lingering:
    """ASGI middleware: where a response is complete before its request is, the rest of the body is thrown away.

    Most senders look for an answer only when they are done sending; without this, one that was refused for the size
    of its file or for its token would see a broken connection. Nothing is kept of what is thrown away, and after
    `seconds` the connection closes all the same.
    """

    def __init__(self, app: ASGIApp, seconds: float = _SECONDS) -> None:
        self.app = app
        self.seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _has_body(scope):
            await self.app(scope, receive, send)
            return
        done = False

        async def watched() -> Message:
            nonlocal done
            message = await receive()
            done = message["type"] == "http.disconnect" or not message.get("more_body", False)
            return message

        async def delayed(message: Message) -> None:
            if done or message["type"] != "http.response.body" or message.get("more_body", False):
                await send(message)
                return
            await send({**message, "more_body": True})
            until = time.monotonic() + self.seconds
            while not done and time.monotonic() < until:
                await watched()
            await send({"type": "http.response.body", "body": b""})

        await self.app(scope, watched, delayed)


def _has_body(scope: Scope) -> bool:
    headers = dict(scope["headers"])
    return headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
