"""What an edit changed, word by word, as pieces that a page marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

Kind = Literal["same", "gone", "new"]
SAME: Kind = "same"
GONE: Kind = "gone"
NEW: Kind = "new"
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
_LONGEST = 4_000
"""Words, marks and gaps of a text; longer ones are shown as one change each, since aligning them would take long."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that both have, only the original has (`gone`), or only the revision has (`new`)."""

    kind: Kind
    text: str


def word_diff(original: str, revised: str) -> tuple[Piece, ...]:
    """Pieces whose `same` and `gone` texts make up the original, and `same` and `new` texts the revision, in order.

    Aligned by Levenshtein's distance over words, marks and gaps (rapidfuzz). Changes with nothing but a gap between
    them are one change, so that a name that was replaced reads as one.
    """
    x, y = _TOKEN.findall(original), _TOKEN.findall(revised)
    if original == revised:
        return (Piece(SAME, original),) if original else ()
    if max(len(x), len(y)) > _LONGEST:
        return _changed(original, revised)
    runs: list[tuple[bool, str, str]] = []
    for changed, group in groupby(_joined(list(_aligned(x, y))), key=lambda run: run[0]):
        held = list(group)
        runs.append((changed, "".join(run[1] for run in held), "".join(run[2] for run in held)))
    pieces: list[Piece] = []
    for changed, gone, new in runs:
        if not changed:
            pieces.append(Piece(SAME, gone))
            continue
        pieces += _changed(gone, new)
    return tuple(pieces)


def _changed(gone: str, new: str) -> tuple[Piece, ...]:
    both = Piece(GONE, gone), Piece(NEW, new)
    return tuple(piece for piece in both if piece.text)


def _aligned(x: list[str], y: list[str]) -> Iterator[tuple[bool, str, str]]:
    """(changed, text of the original, text of the revision) in order."""
    from rapidfuzz.distance import Levenshtein

    for code in Levenshtein.opcodes(x, y):
        yield (
            code.tag != "equal",
            "".join(x[code.src_start : code.src_end]),
            "".join(y[code.dest_start : code.dest_end]),
        )


def _joined(runs: list[tuple[bool, str, str]]) -> Iterator[tuple[bool, str, str]]:
    """The runs, a gap between two changes counted as changed itself."""
    for at, (changed, gone, new) in enumerate(runs):
        between = 0 < at < len(runs) - 1 and runs[at - 1][0] and runs[at + 1][0]
        yield changed or (between and not gone.strip()), gone, new
