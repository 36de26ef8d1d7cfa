"""Where a text ends: one rule for all backends, since endpoints and libraries differ in what they leave in."""

from __future__ import annotations

from collections.abc import Sequence


def cut(text: str, stop: Sequence[str]) -> tuple[str, bool]:
    """The text before the first stop string, and whether one was found."""
    ends = [at for mark in stop if mark and (at := text.find(mark)) >= 0]
    return (text[: min(ends)], True) if ends else (text, False)
