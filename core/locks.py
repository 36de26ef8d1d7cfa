"""Turns at something that has no row of its own to lock; each is held until its transaction ends."""

from __future__ import annotations

from hashlib import sha256

from sqlalchemy import text
from sqlalchemy.orm import Session


def take_turn(session: Session, what: str) -> None:
    """Wait until nobody else has the turn at `what`, and keep it until the transaction ends.

    On SQLite a transaction that writes is alone anyway.
    """
    hold_key(session, sha256(what.encode()).digest()[:8])


def hold_key(session: Session, key: bytes) -> None:
    """The same for a name that is 8 bytes already."""
    if session.get_bind().dialect.name == "postgresql":
        number = int.from_bytes(key, "big", signed=True)
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": number})
