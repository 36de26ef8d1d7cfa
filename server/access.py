"""Who may call a route: every view carries one of these rules, so that a test can find one without."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from core.errors import Forbidden
from server.auth import ROLES
from server.context import signed_in

View = TypeVar("View", bound=Callable[..., Any])
SUBMITTERS = ("team", "maintainer")


def public(view: View) -> View:
    """Anybody, signed in or not."""
    view.access = ("anybody",)  # type: ignore[attr-defined]
    return view


def only(*roles: str) -> Callable[[View], View]:
    """Bearers of a token with one of these roles; without any named, bearers of every token."""

    def decorate(view: View) -> View:
        allowed = roles or ROLES

        @wraps(view)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            if signed_in().role not in allowed:
                raise Forbidden(
                    f"A token with the role {signed_in().role!r} may not do this.",
                    f"It takes a token with the role {' or '.join(allowed)}.",
                )
            return view(*args, **kwargs)

        guarded.access = allowed  # type: ignore[attr-defined]
        return guarded  # type: ignore[return-value]

    return decorate
