"""Windows of sentences, sliding over a document by one sentence: what evidence is cut out of it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from systems.rarr.records import Document

SENTENCES = 4
LONGEST_DOCUMENT = 20_000
"""Characters of a document that are read; the rest is left out."""
LONGEST_WINDOW = 1_500
"""Characters of a window; what is longer is cut at a word."""
_PIECE = re.compile(r"[^\n]{1,2000}(?:(?<=\s)|(?=\s)|$)|[^\n]{1,2000}")
"""Paragraphs, or pieces of long ones: the segmenter's time grows with the square of a text's length."""


def windows(document: Document, sentences: int = SENTENCES) -> list[str]:
    """All runs of that many sentences, verbatim; the whole text where it has no more; nothing of an empty one."""
    bounds = _sentences(document.text[:LONGEST_DOCUMENT])
    last = max(1, len(bounds) - sentences + 1)
    spans = [(bounds[at][0], bounds[min(at + sentences, len(bounds)) - 1][1]) for at in range(last)] if bounds else []
    return list(dict.fromkeys(_short(document.text[start:end].strip()) for start, end in spans))


@lru_cache(maxsize=4_096)
def _sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Where each sentence begins and ends."""
    found: list[tuple[int, int]] = []
    for piece in _PIECE.finditer(text):
        spans: Any = _segmenter().segment(piece[0])
        found += [(piece.start() + each.start, piece.start() + each.end) for each in spans]
    return tuple((start, end) for start, end in found if text[start:end].strip())


@lru_cache(maxsize=1)
def _segmenter() -> Any:
    import pysbd

    return pysbd.Segmenter(language="en", clean=False, char_span=True)


def _short(text: str) -> str:
    if len(text) <= LONGEST_WINDOW:
        return text
    cut = text[:LONGEST_WINDOW]
    return cut[: max(cut.rfind(" "), LONGEST_WINDOW // 2)].rstrip()
