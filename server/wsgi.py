"""Flask under ASGI with one change of threads a request: a small answer is handed over whole, not piece by piece."""

from __future__ import annotations

import asyncio
import contextvars
import functools
from typing import Any

from a2wsgi import WSGIMiddleware
from a2wsgi.wsgi import Body, WSGIResponder, build_environ
from starlette.types import Message, Receive, Scope, Send

_HELD = 64 * 1024


class Wsgi(WSGIMiddleware):  # type: ignore[misc]
    """a2wsgi's adapter, whose responder waits for the event loop at every message, with one that seldom does."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await _Responder(self.app, self.executor, self.send_queue_size)(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


class _Responder(WSGIResponder):  # type: ignore[misc]
    """Keeps up to 64 KiB of an answer in the worker's thread; a longer one waits there until it has been sent."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._start: Message | None = None
        self._body = bytearray()
        self._ended = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._forward = send
        environ = build_environ(scope, Body(self.loop, receive))
        run = functools.partial(contextvars.copy_context().run, self.wsgi)
        await self.loop.run_in_executor(self.executor, run, environ, self.start_response)
        await self._flush()
        if self.exc_info is not None:
            raise self.exc_info[0].with_traceback(self.exc_info[1], self.exc_info[2])

    def send(self, message: Message) -> None:
        """Called in the worker's thread."""
        if message["type"] == "http.response.start":
            self._start = message
            return
        self._body += message["body"]
        self._ended = not message.get("more_body", False)
        if len(self._body) >= _HELD and not self._ended:
            asyncio.run_coroutine_threadsafe(self._flush(), self.loop).result()

    async def _flush(self) -> None:
        start, self._start = self._start, None
        body, self._body = bytes(self._body), bytearray()
        if start is not None:
            await self._forward(start)
        await self._forward({"type": "http.response.body", "body": body, "more_body": not self._ended})
