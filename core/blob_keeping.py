"""Keeps a blob from being removed by one while another comes to need it: both decide under one lock."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import BinaryIO

from sqlalchemy.orm import Session

from core.errors import Unavailable
from core.locks import hold_key
from core.ports import Blobs


def hold(session: Session, blob: str) -> None:
    """Wait until nobody else decides about this blob, and let nobody until the transaction ends.

    Whoever takes several holds them in order. On SQLite a transaction that writes is alone anyway.
    """
    hold_key(session, bytes.fromhex(blob[:16]))


def ensure(session: Session, blobs: Blobs, blob: str, again: Callable[[], BinaryIO] | None = None) -> None:
    """See to it that a blob is there when the transaction that writes a row about it commits.

    Between storing it and here somebody may have removed it, as no row named it yet. It is then stored again from
    `again`; without that, raises `Unavailable`.
    """
    hold(session, blob)
    if blobs.exists(blob):
        return
    if again is None:
        raise Unavailable("The file was removed by another's deletion at the same moment.", "Send it again.")
    blobs.put(again())


def ensure_all(session: Session, blobs: Blobs, keys: Iterable[str]) -> None:
    """`ensure` for several; they are held in order, so that no two wait for each other."""
    for blob in sorted(set(keys)):
        ensure(session, blobs, blob)


def from_bytes(data: bytes) -> Callable[[], BinaryIO]:
    """Bytes at hand as `ensure` takes them."""
    return lambda: io.BytesIO(data)
