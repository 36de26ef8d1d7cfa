"""The search box's little language: `team:NAME`, `arch:NAME`, `supervision:TEXT` and free text, all of them needed."""

from __future__ import annotations

import re
from collections.abc import Callable

from core.architectures import ARCHITECTURES
from leaderboard.records import Entry

_TERM = re.compile(r'(?:(team|arch|supervision):("[^"]*"|\S*)|("[^"]*"|\S+))', re.IGNORECASE)


def _architecture(entry: Entry) -> str:
    return f"{entry.architecture} {ARCHITECTURES.get(entry.architecture, '')}"


_FIELDS: dict[str, Callable[[Entry], str]] = {
    "team": lambda entry: entry.team,
    "arch": _architecture,
    "supervision": lambda entry: entry.supervision,
    "": lambda entry: " ".join(
        (entry.system, entry.team, _architecture(entry), entry.supervision, entry.description, entry.submission)
    ),
}


def matcher(query: str) -> Callable[[Entry], bool]:
    """A test of entries; letter case does not matter, and quotes keep words together."""
    terms = [(kind.lower(), (text or free).strip('"').casefold()) for kind, text, free in _TERM.findall(query)]

    def matches(entry: Entry) -> bool:
        return all(text in _FIELDS[kind](entry).casefold() for kind, text in terms)

    return matches
