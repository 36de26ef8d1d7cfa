"""How many requests one address may send to the board, which Flask's limits do not see."""

from __future__ import annotations

import logging
import time

from limits import RateLimitItem, parse_many
from limits.storage import MemoryStorage, storage_from_string
from limits.strategies import FixedWindowRateLimiter
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from core.settings import Settings
from server.seldom_warning import SeldomWarning

log = logging.getLogger("aqa.web")
_FILES = ("assets", "static", "_app", "svelte", "theme.css", "favicon.ico", "manifest.json")
"""What stands behind the board's address and is a file that browsers keep: a page asks for dozens, and it is free."""


class BoardLimits:
    """ASGI middleware: counts requests under `path` by address and answers 429 beyond `rate_limit_board`.

    Counts lie where all counts lie. If that store is away, this process counts for itself until it is back.
    """

    def __init__(self, app: ASGIApp, path: str, settings: Settings) -> None:
        self.app = app
        self._path = path
        self._rates: list[RateLimitItem] = parse_many(settings.rate_limit_board) if settings.rate_limit_board else []
        self._shared = FixedWindowRateLimiter(storage_from_string(settings.rate_limit_storage))
        self._away = SeldomWarning(log)
        self._here = FixedWindowRateLimiter(MemoryStorage())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._rates and scope["type"] == "http" and self._counts(scope["path"]):
            wait = await run_in_threadpool(self._wait, scope["client"][0] if scope.get("client") else "unknown")
            if wait is not None:
                told = f"Too many requests came in a short time. Try again in {wait} seconds.\n"
                await PlainTextResponse(told, 429, {"Retry-After": str(wait)})(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _counts(self, path: str) -> bool:
        under = path.removeprefix(self._path)
        return path.startswith(self._path) and under[:1] in ("", "/") and under.strip("/").split("/")[0] not in _FILES

    def _wait(self, address: str) -> int | None:
        """Seconds until the address may ask again; None if it may now."""
        try:
            return self._hit(self._shared, address)
        except Exception as error:  # whatever the store's client raises
            self._away.warn("the store of request counts does not answer: %s", type(error).__name__)
            return self._hit(self._here, address)

    def _hit(self, limiter: FixedWindowRateLimiter, address: str) -> int | None:
        over = [rate for rate in self._rates if not limiter.hit(rate, "aqa-board", address)]
        ends = [limiter.get_window_stats(rate, "aqa-board", address).reset_time for rate in over]
        return max(1, round(max(ends) - time.time())) if ends else None
