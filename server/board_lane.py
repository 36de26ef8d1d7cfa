"""The board's JSON, which is asked for most, given without Flask where nothing but the same bytes can come out."""

from __future__ import annotations

import time
from collections.abc import Iterable
from urllib.parse import parse_qsl

from apiflask import APIFlask
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaderboard.board_json import Document
from server import limits, metrics, request_log, security
from server.bootstrap import Services

PATH = "/api/v1/leaderboard"
_KNOWN = {b"benchmark", b"rank_by"}
Headers = list[tuple[bytes, bytes]]


class BoardLane:
    """ASGI middleware: answers visitors' GETs of a board that was written out already; all else goes on.

    What the answer holds, its headers and how it is counted are the same as Flask's for that route. A request with a
    token or a wrong field, one too many, or one that meets a fault is Flask's to answer.
    """

    def __init__(self, app: ASGIApp, web: APIFlask, services: Services) -> None:
        self.app = app
        self._web = web
        self._boards = services.board_json
        self._count = limits.counter(web, services.settings)
        # Neither looks beyond this process and its files, so both are done before another thread could be waked.
        self._at_hand = services.database.is_sqlite and services.settings.rate_limit_storage == "memory://"
        self._headers = _raw({**security.headers(web), "content-type": "application/json", "cache-control": "no-cache"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == PATH and scope["method"] == "GET":
            begun = time.perf_counter()
            answer = self._answer(scope) if self._at_hand else await run_in_threadpool(self._answer, scope)
            if answer is not None:
                for message in answer:
                    await send(message)
                status, seconds = answer[0]["status"], time.perf_counter() - begun
                metrics.observe(self._web, "GET", PATH, status, seconds)
                request_log.line("GET", PATH, status, seconds)
                return
        await self.app(scope, receive, send)

    def _answer(self, scope: Scope) -> tuple[Message, Message] | None:
        known = None
        for name, value in scope["headers"]:
            if name == b"authorization":
                return None
            known = value if name == b"if-none-match" else known
        wanted = _wanted(scope["query_string"])
        try:
            found = self._boards.held(*wanted) if wanted else None
            counted = self._count((scope["client"] or ("127.0.0.1",))[0]) if found else None
        except Exception:  # of a database or a store of counts that is away: Flask knows what to say of it
            return None
        if found is None or counted is None:
            return None
        return self._message(found, [*self._headers, *_raw(counted)], known)

    def _message(self, found: Document, headers: Headers, known: bytes | None) -> tuple[Message, Message]:
        etag = b'"%b"' % found.etag.encode()
        same = known is not None and (etag in known or known == b"*")  # a list, each perhaps marked as weak
        headers += [(b"etag", etag)] if same else [(b"etag", etag), (b"content-length", b"%d" % len(found.data))]
        start = {"type": "http.response.start", "status": 304 if same else 200, "headers": headers}
        return start, {"type": "http.response.body", "body": b"" if same else found.data}


def _wanted(query: bytes) -> tuple[str, str] | None:
    try:
        fields = parse_qsl(query, keep_blank_values=True, strict_parsing=True)
    except ValueError:
        return None
    wanted = dict(fields)
    if len(wanted) != len(fields) or not wanted.keys() <= _KNOWN or b"benchmark" not in wanted:
        return None
    return wanted[b"benchmark"].decode("latin1"), wanted.get(b"rank_by", b"").decode("latin1")


def _raw(headers: dict[str, str]) -> Iterable[tuple[bytes, bytes]]:
    return [(name.lower().encode("latin1"), value.encode("latin1")) for name, value in headers.items()]
