"""Secure headers for the board, which is not Flask's to harden; looser than the pages' where Gradio needs it."""

from __future__ import annotations

import re

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Gradio starts itself by inline scripts and styles and compiles code at run time; nothing may come from elsewhere.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
}
_NAMED = re.compile(r"/assets/[^/]+-[\w-]{8}\.\w+$")
"""Gradio's files whose names change with their content: browsers need not ask for them again."""
_KEEP = "public, max-age=31536000, immutable"


class BoardHeaders:
    """ASGI middleware: sets the headers on everything under `path` that has none of its own."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app = app
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(self.path):
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if message["status"] == 200 and _NAMED.search(scope["path"]):
                    headers["Cache-Control"] = _KEEP
            await send(message)

        await self.app(scope, receive, with_headers)
