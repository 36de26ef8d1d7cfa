"""Whether the process lives, and whether it can do its work."""

from __future__ import annotations

from apiflask import APIBlueprint

from server.access import public
from server.context import services

bp = APIBlueprint("health", __name__, enable_openapi=False)


@bp.get("/healthz")
@public
def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@bp.get("/readyz")
@public
def readyz() -> dict[str, str]:
    """The database answers. Raises `Unavailable`, which becomes 503."""
    services().database.ping()
    return {"status": "ready"}
