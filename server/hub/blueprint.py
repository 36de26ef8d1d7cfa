"""The endpoint put together; whatever is not there is answered in the clients' own terms."""

from __future__ import annotations

from typing import NoReturn

from apiflask import APIBlueprint

from core.errors import NotFound
from server.access import public
from server.hub import errors
from server.hub.account import bp as account
from server.hub.commits import bp as commits
from server.hub.lfs import bp as lfs
from server.hub.listing import bp as listing
from server.hub.resolve import bp as resolve
from submissions.repos.errors import RepoNotFound

PREFIX = "/hub"


def blueprint() -> APIBlueprint:
    """The whole endpoint, to be registered once per application."""
    hub = APIBlueprint("hub", __name__, url_prefix=PREFIX, enable_openapi=False)
    for part in (account, listing, commits, resolve, lfs):
        hub.register_blueprint(part)
    hub.add_url_rule("/<path:path>", "missing", missing, methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
    errors.register(hub)
    return hub


@public
def missing(path: str) -> NoReturn:
    """Say what is not here."""
    if path.startswith(("api/models/", "api/spaces/")) or not path.startswith(("api/", "datasets/")):
        raise RepoNotFound("Only dataset repositories live here.", "Pass repo_type='dataset'.")
    raise NotFound("This endpoint does not know that call.", "docs/hub.md lists the calls that work here.")
