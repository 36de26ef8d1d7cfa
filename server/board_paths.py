"""What a visitor may ask the board's framework for that it would answer wrongly by itself."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class BoardPaths:
    """ASGI middleware below `path`: no uploads; HEAD wherever GET is; one address per page, without a slash at its end.

    The framework keeps whatever anybody uploads, and sends `PAGE/` to an address outside the board.
    """

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app = app
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        where = scope.get("path", "")
        if scope["type"] != "http" or not where.startswith(f"{self.path}/"):
            await self.app(scope, receive, send)
        elif where.startswith(f"{self.path}/gradio_api/upload"):
            await PlainTextResponse("The board takes no files.", 404)(scope, receive, send)
        elif where.endswith("/") and where != f"{self.path}/" and scope["method"] in ("GET", "HEAD"):
            query = scope["query_string"].decode("latin-1")
            to = quote(where.rstrip("/")) + (f"?{query}" if query else "")
            await RedirectResponse(to, 308)(scope, receive, send)
        elif scope["method"] == "HEAD":  # the server leaves the body out
            await self.app({**scope, "method": "GET"}, receive, send)
        else:
            await self.app(scope, receive, send)
