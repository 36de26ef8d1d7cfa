"""The editing track's values (RARR, Gao et al. 2023): a revised passage and the report of evidence for it."""

from __future__ import annotations

import re
from dataclasses import dataclass

LARGEST_REPORT = 5
"""M: how many snippets a report holds at most (RARR §2)."""
LONGEST_TEXT = 10_000
"""Characters of a passage, of its revision and of a snippet: each sentence is judged against each snippet."""
MOST_SENTENCES = 200
"""Sentences of a passage and of its revision: each is judged against each of up to `LARGEST_REPORT` snippets."""

_ENDS = re.compile(r"[.!?…]+(?!\w)|[。．｡！？]|[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+|\b(?:\d+|[a-z]|[ivx]+)\)|[•⁃]")


@dataclass(frozen=True, slots=True)
class Snippet:
    """One piece of evidence: its text, where it is from (passage id or URL), and the query that found it."""

    text: str
    source: str = ""
    query: str = ""


@dataclass(frozen=True, slots=True)
class Revision:
    """An entry's word on the passage at `position`: the revised text y and the attribution report A."""

    position: int
    text: str
    report: tuple[Snippet, ...] = ()


def sentence_ends(text: str) -> int:
    """Where sentences may end: marks, line breaks and items of lists; in linear time, without parting the text.

    Abbreviations count too, so a text hardly ever has more sentences than this and one.
    """
    return sum(1 for _ in _ENDS.finditer(text))
