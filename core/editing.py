"""The editing track's values (RARR, Gao et al. 2023): a revised passage and the report of evidence for it."""

from __future__ import annotations

from dataclasses import dataclass

LARGEST_REPORT = 5
"""M: how many snippets a report holds at most (RARR §2)."""
LONGEST_TEXT = 10_000
"""Characters of a passage, of its revision and of a snippet: each sentence is judged against each snippet."""


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
