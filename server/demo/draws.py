"""Seeded draws from a hash, which come out alike on every Python version and in every order of calls."""

from __future__ import annotations

import hashlib


def uniform(seed: int, *parts: str) -> float:
    """A number in [0, 1) that depends only on the seed and the parts, the thing drawn for."""
    text = "\x1f".join((str(seed), *parts))
    return int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:6], "big") / 2**48
