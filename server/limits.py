"""How many requests one sender may send: per token, and per address for visitors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from flask import Flask, request
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from limits import parse_many

from core.errors import InvalidInput
from core.settings import Settings
from server.context import identity

View = TypeVar("View", bound=Callable[..., Any])
_PREFIX = "aqa"
KINDS = ("files", "sign_in", "register")
_FREE = ("static", "health.healthz", "health.readyz")
"""Endpoints that are asked again and again by browsers and by what watches the service."""


def check(settings: Settings) -> None:
    """Raise `InvalidInput` naming the setting for a rate that cannot be read: it would not be kept."""
    for name in ("rate_limit", "rate_limit_board", *(f"rate_limit_{kind}" for kind in KINDS)):
        rate = getattr(settings, name)
        try:
            if rate:
                parse_many(rate)
        except ValueError:
            raise InvalidInput(f"AQA_{name.upper()}={rate!r} is not a rate.", "For example: 600 per minute.") from None


def limited(kind: str) -> Callable[[View], View]:
    """Give a view a tighter limit, whose setting is `rate_limit_` and one of `KINDS`."""

    def decorate(view: View) -> View:
        view.limit = kind  # type: ignore[attr-defined]
        return view

    return decorate


def register(app: Flask, settings: Settings) -> None:
    """Count requests; the sender must be known by then, so this comes after the identification.

    If the store of counts is away, each process counts for itself until it is back.
    """
    limiter = Limiter(
        _sender,
        application_limits=[settings.rate_limit] if settings.rate_limit else [],
        application_limits_exempt_when=lambda: request.endpoint in _FREE,
        storage_uri=settings.rate_limit_storage,
        in_memory_fallback_enabled=True,
        headers_enabled=True,
        key_prefix=_PREFIX,
    )
    limiter.init_app(app)
    app.extensions["aqa-limiter"] = limiter


def counter(app: Flask, settings: Settings) -> Callable[[str], dict[str, str] | None]:
    """Counts a visitor's request that Flask does not see, by address, as Flask's own are counted.

    The count gives the headers that tell the visitor of it, or None where the limit is reached. Raises what the store
    of counts does.
    """
    limiter: Limiter = app.extensions["aqa-limiter"]
    rates = sorted(parse_many(settings.rate_limit)) if settings.rate_limit else []

    def count(address: str) -> dict[str, str] | None:
        if not rates:
            return {}
        key = (_PREFIX, f"address {address}", "global")
        within = [limiter.limiter.hit(rate, *key) for rate in rates]  # each of them counts, though one be reached
        if not all(within):
            return None
        reset, remaining = limiter.limiter.get_window_stats(rates[0], *key)
        names = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
        return dict(zip(names, map(str, (rates[0].amount, remaining, int(reset + 1))), strict=True))

    return count


def tighten(app: Flask, settings: Settings) -> None:
    """Put the tighter limits on the views that asked for one; call it once all routes are there."""
    limiter: Limiter = app.extensions["aqa-limiter"]
    for endpoint, view in app.view_functions.items():
        kind = getattr(view, "limit", None)
        rate = getattr(settings, f"rate_limit_{kind}") if kind else ""
        if rate:
            tightened: Any = limiter.limit(rate, override_defaults=False, methods=["POST", "PUT"])(view)
            app.view_functions[endpoint] = tightened


def _sender() -> str:
    who = identity()
    return f"token {who.token_id}" if who else f"address {get_remote_address()}"
