"""One log line a request: who asked for what about which submission, and how it ended. Queries are left out."""

from __future__ import annotations

import logging
import time

from flask import Flask, Response, g, request

from core import log_context
from server.context import identity

log = logging.getLogger("aqa.web")
_QUIET = ("/static/", "/healthz", "/readyz", "/metrics")
"""Asked for so often that lines about them would hide the others; what goes wrong there is logged all the same."""


def register(app: Flask) -> None:
    """Have every line of a request name its submission and its team."""
    app.before_request_funcs.setdefault(None, []).insert(0, _begin)
    app.before_request(_told)
    app.after_request(_end)
    app.teardown_request(lambda _error: log_context.begin())


def _begin() -> None:
    g.asked_at = time.perf_counter()
    log_context.begin(str((request.view_args or {}).get("submission_id", ""))[:24])


def _told() -> None:
    """Who asks is known by now."""
    who = identity()
    if who is not None:
        log_context.begin(log_context.current().subject, who.team_id)


def _end(response: Response) -> Response:
    if request.path.startswith(_QUIET) and response.status_code < 500:
        return response
    seconds = time.perf_counter() - g.get("asked_at", time.perf_counter())
    line(request.method, request.path, response.status_code, seconds)
    return response


def line(method: str, path: str, status: int, seconds: float) -> None:
    """Write the line of one request."""
    shown = path[:200].encode("unicode_escape").decode()
    log.info(
        "%s %s %s in %.0f ms", method, shown, status, 1_000 * seconds,
        extra={"method": method, "path": shown, "status": status, "seconds": round(seconds, 4)},
    )  # fmt: skip
