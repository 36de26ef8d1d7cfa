"""What a visitor chose to see, as one frozen value that is also the page's URL query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlencode

REFERENCES = {"": "All systems", "hide": "Without reference systems", "only": "Reference systems only"}


@dataclass(frozen=True, slots=True)
class View:
    """State of the board page; a field that holds its default is left out of the URL.

    `sort` is a column's key, `system`, `coverage` or empty for the rank column; `columns` and `architectures`
    are empty for the usual ones and all of them.
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
        return cls(**given)

    def query(self) -> str:
        """The URL query with its question mark."""
        parts = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                parts[field.name] = ",".join(value) if isinstance(value, tuple) else "1" if value is True else value
        return "?" + urlencode(parts, safe=",:")
