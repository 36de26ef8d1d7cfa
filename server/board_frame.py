"""The common header, footer, icon and tab title around the board's pages, which its framework serves without them."""

from __future__ import annotations

import re
from typing import Any

from anyio import to_thread
from flask import Flask, g, render_template, session
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from werkzeug.test import EnvironBuilder

from core.errors import NotSignedIn
from leaderboard.pages import PAGES, SITE
from server.context import read_cookie

_NOT_OURS = re.compile(r'\s*<(?:meta\s+(?:property="og:|name="twitter:)|link rel="manifest")[^>]*>')
"""What the board's framework tells link previews about itself."""


class BoardFrame:
    """ASGI middleware: puts the frame that Flask renders into every HTML page under `path`.

    Where there is no page, a browser gets the site's own page that says so.
    """

    def __init__(self, app: ASGIApp, web: Flask, path: str) -> None:
        self.app = app
        self.web = web
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(f"{self.path}/"):
            await self.app(scope, receive, send)
            return
        start: Message | None = None
        missing = False
        body = bytearray()

        async def framed(message: Message) -> None:
            nonlocal start, missing
            if message["type"] == "http.response.start" and message["status"] == 404 and _wants_html(scope):
                missing = True
            elif message["type"] == "http.response.start" and _is_html(message):
                start = message
            elif missing:
                if not message.get("more_body", False):
                    whole, headers = await to_thread.run_sync(self._missing, scope)
                    await send({"type": "http.response.start", "status": 404, "headers": headers})
                    await send({"type": "http.response.body", "body": whole})
            elif start is None:
                await send(message)
            else:
                body.extend(message.get("body", b""))
                if not message.get("more_body", False):
                    whole, headers = await to_thread.run_sync(self._framed, scope, body.decode())
                    kept = [pair for pair in start["headers"] if pair[0].lower() != b"content-length"]
                    length = (b"content-length", str(len(whole)).encode())
                    await send({**start, "headers": [*kept, length, *headers]})
                    await send({"type": "http.response.body", "body": whole})

        await self.app(scope, receive, framed)

    def _missing(self, scope: Scope) -> tuple[bytes, list[tuple[bytes, bytes]]]:
        """What the site says of an address that it does not know, which no page of the board is."""
        with self.web.request_context(_environ(scope)):
            response = self.web.full_dispatch_request()
            headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in response.headers]
            return response.get_data(), headers

    def _framed(self, scope: Scope, page: str) -> tuple[bytes, list[tuple[bytes, bytes]]]:
        """The page with its frame, and the cookie that the header's form may need."""
        with self.web.request_context(_environ(scope)):
            _identify()
            title = PAGES.get(scope["path"].removeprefix(f"{self.path}/").strip("/"), PAGES[""])
            head, top, wait, foot = (
                render_template(f"_{name}.html") for name in ("theme", "top", "board_wait", "foot")
            )
            response = self.web.response_class()
            self.web.session_interface.save_session(self.web, session, response)
        page = _NOT_OURS.sub("", page)
        page = page.replace("<head>", f"<head>\n<title>{title} · {SITE}</title>\n{head}", 1)
        page = page.replace("<gradio-app", f'{top}<div id="main" class="aqa-main">{wait}<gradio-app', 1)
        page = page.replace("</gradio-app>", f"</gradio-app></div>{foot}", 1)
        headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in response.headers
                   if name.lower() in ("set-cookie", "vary")]  # fmt: skip
        return page.encode(), [*headers, (b"cache-control", b"no-store")]


def _environ(scope: Scope) -> dict[str, Any]:
    """The request as Flask needs it to know who looks."""
    cookie = "; ".join(value.decode("latin-1") for name, value in scope["headers"] if name == b"cookie")
    return EnvironBuilder(path=scope["path"], headers=[("Cookie", cookie)] if cookie else []).get_environ()


def _wants_html(scope: Scope) -> bool:
    """Whether a person's browser asks for a page."""
    accepted = b",".join(value for name, value in scope["headers"] if name == b"accept")
    return scope["method"] == "GET" and b"text/html" in accepted


def _is_html(start: Message) -> bool:
    kind = dict[Any, Any](start["headers"]).get(b"content-type", b"")
    return bool(start["status"] == 200 and kind.startswith(b"text/html"))


def _identify() -> None:
    """Who looks, as on the other pages; a session that has ended makes a visitor."""
    g.identity = None
    try:
        read_cookie()
    except NotSignedIn:
        g.identity = None
