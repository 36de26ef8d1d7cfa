"""Numbers that stand in addresses."""

from __future__ import annotations

from core.errors import NotFound


def number(text: str, of: str) -> int:
    """The number of a thing in an address. Raises `NotFound`."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise NotFound(f"There is no {of} {text[:20]!r}.")
    return int(text)
