"""Windows of sentences, sliding over a document by one sentence: what evidence is cut out of it."""

from __future__ import annotations

from functools import lru_cache

from core.sentences import split
from systems.rarr.records import Document

SENTENCES = 4
LONGEST_DOCUMENT = 20_000
"""Characters of a document that are read; the rest is left out."""
LONGEST_WINDOW = 1_500
"""Characters of a window; what is longer is cut at a word."""


def windows(document: Document, sentences: int = SENTENCES) -> list[str]:
    """All runs of that many sentences, verbatim; the whole text where it has no more; nothing of an empty one."""
    bounds = _sentences(document.text[:LONGEST_DOCUMENT])
    last = max(1, len(bounds) - sentences + 1)
    spans = [(bounds[at][0], bounds[min(at + sentences, len(bounds)) - 1][1]) for at in range(last)] if bounds else []
    return list(dict.fromkeys(_short(document.text[start:end].strip()) for start, end in spans))


@lru_cache(maxsize=4_096)
def _sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Where each sentence begins and ends: the splitter may change blanks, never another character."""
    places = [at for at, each in enumerate(text) if not each.isspace()]
    bounds, done = [], 0
    for size in (len("".join(sentence.split())) for sentence in split(text)):
        bounds.append((places[done], places[done + size - 1] + 1))
        done += size
    return tuple(bounds)


def _short(text: str) -> str:
    if len(text) <= LONGEST_WINDOW:
        return text
    cut = text[:LONGEST_WINDOW]
    return cut[: max(cut.rfind(" "), LONGEST_WINDOW // 2)].rstrip()
