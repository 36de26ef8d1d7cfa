"""Strict JSON that keeps numbers as the characters that were typed."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from submissions.formats.findings import BadFile, excerpt

LONG_ROW = "One row alone is larger than a whole file may be."

_BLANK = re.compile(r"[ \t\n\r]*")


class Decoder:
    """A strict decoder: numbers stay text; doubled keys and NaN are noted in `faults`, wherever they stand."""

    def __init__(self) -> None:
        self.faults: list[tuple[str, str]] = []
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object, parse_float=str, parse_int=str, parse_constant=self._constant
        )

    def at(self, text: str, start: int) -> tuple[Any, int]:
        """The value that begins at `start`, and where it ends. Raises `json.JSONDecodeError`."""
        self.faults.clear()
        try:
            return self._decoder.raw_decode(text, start)
        except RecursionError:
            raise BadFile("invalid_json", "A value is nested too deeply.") from None

    def line(self, text: str) -> Any:
        """The one value of a line. Raises `json.JSONDecodeError`."""
        value, end = self.at(text, blank_end(text, 0))
        rest = blank_end(text, end)
        if rest != len(text):
            raise json.JSONDecodeError("More than one value on a line; lines end with LF", text, rest)
        return value

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) != len(pairs):
            twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
            self.faults.append(("duplicate_key", f"The key “{excerpt(twice)}” stands twice in one object. Keep one."))
        return values

    def _constant(self, text: str) -> None:
        self.faults.append(("not_a_number", f"{text} is not JSON. Write null, or a text in quotes."))


def may_go_on(error: json.JSONDecodeError, text: str) -> bool:
    """True if more text could mend the error: it is at the end of the window, or a string is still open."""
    return error.pos + len("-Infinity") >= len(text) or error.msg.startswith("Unterminated string")


def blank_end(text: str, start: int) -> int:
    """Where the blanks that begin at `start` end."""
    match = _BLANK.match(text, start)
    return match.end() if match else start


def explain(error: json.JSONDecodeError, where: str = "") -> str:
    """A decoder's error as a sentence."""
    return f"This is not valid JSON ({where}character {error.pos + 1:,}): {error.msg}."
