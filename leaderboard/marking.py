"""Where an answer stands in a passage, for the eye; nothing is scored by it."""

from __future__ import annotations

import re

_LONGEST = 200
_WORD = re.compile(r"\w+")

Segment = tuple[str, bool]
"""A piece of text, and whether it is the answer."""


def mark(text: str, answer: str | None) -> tuple[Segment, ...]:
    """Cut a text at the places where the answer's words stand in their order; letter case does not matter."""
    words = _WORD.findall(answer or "")
    if not words or len(answer or "") > _LONGEST:
        return ((text, False),) if text else ()
    found = re.compile(r"\b" + r"[\W_]+".join(map(re.escape, words)) + r"\b", re.IGNORECASE)
    segments: list[Segment] = []
    end = 0
    for match in found.finditer(text):
        segments += [(text[end : match.start()], False), (match.group(), True)]
        end = match.end()
    segments.append((text[end:], False))
    return tuple(segment for segment in segments if segment[0])
