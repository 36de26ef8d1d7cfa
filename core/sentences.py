"""Sentences of a text, by a pinned library."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import metadata

_STEPS = 1
"""Version of our own steps around the library."""


@cache
def splitter() -> str:
    """The library with its version and that of our steps, for signatures, e.g. `pysbd-0.3.4.1`."""
    return f"pysbd-{metadata.version('pysbd')}.{_STEPS}"


@lru_cache(maxsize=4_096)
def split(text: str) -> tuple[str, ...]:
    """The sentences of an English text in order, without the blanks around them; none for a blank text.

    By pysbd's rules. Where the library drops characters (it does so at a few symbols that it uses inside), the lines
    of the text are its sentences instead, so that nothing goes unjudged. The newest texts are kept, since the chunks of
    one evaluation part the same texts again.
    """
    import pysbd

    # Its `segment` would look each sentence up in the whole text again, for the blanks between them: minutes for a
    # text of thousands of short ones. Its own steps alone give the same sentences in linear time.
    pieces = pysbd.Segmenter(language="en", clean=False).processor(text).process() if text.strip() else []
    found = tuple(part for piece in pieces if (part := piece.strip()))
    if _letters(found) == _letters([text]):
        return found
    return tuple(part for line in text.splitlines() if (part := line.strip()))


def places(text: str) -> tuple[tuple[int, int], ...]:
    """Start and end in the text of each of its sentences, by `split`; blanks may differ in length, letters do not."""
    letters = [at for at, sign in enumerate(text) if not sign.isspace()]
    found: list[tuple[int, int]] = []
    before = 0
    for sentence in split(text):
        after = before + len("".join(sentence.split()))
        found.append((letters[before], letters[after - 1] + 1))
        before = after
    return tuple(found)


def _letters(parts: Sequence[str]) -> str:
    return "".join("".join(part.split()) for part in parts)
