"""What a request has at hand: the wired services and who sent it."""

from __future__ import annotations

from typing import cast

from flask import current_app, g, request, session

from core.audit import Actor
from core.errors import NotSignedIn
from server import auth
from server.auth import Identity
from server.bootstrap import Services

EXTENSION = "aqa"


def services() -> Services:
    """The services of the running application."""
    return cast(Services, current_app.extensions[EXTENSION])


def identity() -> Identity | None:
    """Who sent the request; None for a visitor."""
    return cast("Identity | None", g.get("identity"))


def signed_in() -> Identity:
    """Who sent the request. Raises `NotSignedIn` for a visitor."""
    sender = identity()
    if sender is None:
        raise NotSignedIn("This needs a team's token.", "Send it as: Authorization: Bearer TOKEN")
    return sender


def actor() -> Actor:
    """Who the audit log names for what this request changes."""
    who = identity()
    return Actor("visitor") if who is None else Actor("token", who.team_id, who.token_id)


def read_bearer() -> None:
    """Take the identity from the Authorization header; cookies do not count at the API, so it needs no CSRF token."""
    g.identity = None
    header = request.headers.get("Authorization", "")
    if not header:
        return
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise NotSignedIn("The Authorization header is not a bearer token.", "Send: Authorization: Bearer TOKEN")
    with services().database.reading() as database:
        g.identity = auth.verify(database, token)


def read_cookie() -> None:
    """Take the identity from the signed session cookie; a token that ended since then ends the session."""
    g.identity = None
    token_id = session.get("token")
    if not isinstance(token_id, int):
        return
    with services().database.reading() as database:
        try:
            g.identity = auth.verify_id(database, token_id)
        except NotSignedIn:
            session.clear()
