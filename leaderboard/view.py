"""What a visitor chose to see, as one frozen value that is also the page's URL query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlencode

REFERENCES = {"": "All systems", "hide": "Without reference systems", "only": "Reference systems only"}
SIZES: dict[str, tuple[str, float, float]] = {
    "under-1": ("Under 1 billion", 0.0, 1.0),
    "1-10": ("1 to 10 billion", 1.0, 10.0),
    "10-100": ("10 to 100 billion", 10.0, 100.0),
    "over-100": ("100 billion and more", 100.0, float("inf")),
}
"""Ranges of parameters in billions: title, least, and what it stays below."""
NO_SIZE = "unknown"
NUMBERS = ("auto", "human")
"""By which numbers the editing track's board draws attribution against preservation."""


@dataclass(frozen=True, slots=True)
class View:
    """State of the board page; a field that holds its default is left out of the URL.

    `sort` is a column's key, `system`, `coverage`, `size` or empty for the rank column; `columns` and `architectures`
    are empty for the usual ones and all of them; `numbers` is one of `NUMBERS`, or empty for the usual one.
    """

    benchmark: str = ""
    q: str = ""
    sort: str = ""
    ascending: bool = False
    columns: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    supervision: str = ""
    references: str = ""
    rank_by: str = ""
    flat: bool = False
    size: str = ""
    numbers: str = ""

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> View:
        """Read a URL query; what is not understood is left at its default."""
        given: dict[str, Any] = {}
        for field in fields(cls):
            text = query.get(field.name, "")
            if isinstance(field.default, bool):
                given[field.name] = text == "1"
            elif isinstance(field.default, tuple):
                given[field.name] = tuple(part for part in text.split(",") if part)
            else:
                given[field.name] = text
        if given["references"] not in REFERENCES:
            given["references"] = ""
        if given["size"] not in (*SIZES, NO_SIZE):
            given["size"] = ""
        if given["numbers"] not in NUMBERS:
            given["numbers"] = ""
        return cls(**given)

    def query(self) -> str:
        """The URL query with its question mark."""
        parts = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                parts[field.name] = ",".join(value) if isinstance(value, tuple) else "1" if value is True else value
        return "?" + urlencode(parts, safe=",:")
