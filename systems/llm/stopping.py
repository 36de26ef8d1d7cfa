"""Where a text ends: one rule for all backends, since endpoints and libraries differ in what they leave in."""

from __future__ import annotations

from collections.abc import Sequence


def cut(text: str, stop: Sequence[str]) -> tuple[str, bool]:
    """The text before the first stop string, and whether one was found."""
    ends = [at for mark in stop if mark and (at := text.find(mark)) >= 0]
    return (text[: min(ends)], True) if ends else (text, False)


def storable(text: str) -> str:
    """The text without what no database and no JSON holds: NUL goes, half a surrogate pair becomes U+FFFD."""
    return text.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
