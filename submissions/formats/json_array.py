"""The elements of a JSON array, decoded a window at a time, so that a large file is never held twice."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

from submissions.formats.findings import BadFile, excerpt
from submissions.formats.json_decoder import LONG_ROW, Decoder, blank_end, explain, may_go_on
from submissions.formats.limits import Limits

_WINDOW = 1 << 20


def elements(data: bytes, decoder: Decoder, limits: Limits) -> Iterator[tuple[int, Any, str]]:
    """Row number, value and first characters of each element of a UTF-8 text without BOM. Raises `BadFile`."""
    window = _Window(data, limits.file_bytes)
    window.take("[")
    row = 0
    if window.peek() == "]":
        window.take("]")
    else:
        separator = ","
        while separator == ",":
            row += 1
            start = window.peek() and window.text[window.at : window.at + 100]
            try:
                value = window.value(decoder)
            except json.JSONDecodeError as error:
                raise BadFile("invalid_json", explain(error), row, excerpt(start)) from None
            except BadFile as error:
                raise BadFile(error.kind, error.message, row, excerpt(start)) from None
            yield row, value, start
            separator = window.peek()
            if separator not in (",", "]"):
                what = "The array is not closed with ]" if not separator else "There is no comma behind this object"
                raise BadFile("invalid_json", f"{what}. Write the file again.", row, excerpt(start))
            window.take(separator)
    if window.peek():
        rest = excerpt(window.text[window.at :])
        raise BadFile("invalid_json", "There is text behind the end of the array.", None, rest)


class _Window:
    """A part of a JSON text that grows when a value does not fit and forgets what was read."""

    def __init__(self, data: bytes, longest: int) -> None:
        self._stream = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
        self._longest = longest
        self.text = ""
        self.at = 0

    def peek(self) -> str:
        """The next character that is not blank, or "" at the end."""
        while True:
            self.at = blank_end(self.text, self.at)
            if self.at < len(self.text) or not self._grow():
                return self.text[self.at : self.at + 1]

    def take(self, character: str) -> None:
        """Step over a character that `peek` showed."""
        if self.peek() == character:
            self.at += 1

    def value(self, decoder: Decoder) -> Any:
        """The value at the current place. Raises `json.JSONDecodeError` once the text has ended."""
        while True:
            start = self.at
            try:
                value, self.at = decoder.at(self.text, start)
            except json.JSONDecodeError as error:
                if not may_go_on(error, self.text) or not self._grow():
                    raise json.JSONDecodeError(error.msg, self.text[self.at :], error.pos - start) from None
            else:
                if self.at - start > self._longest:
                    raise BadFile("too_large", LONG_ROW)
                return value

    def _grow(self) -> bool:
        """Doubles what is left, so that a value larger than the window costs linear time in all."""
        kept = self.text[self.at :]
        if len(kept) > self._longest:
            raise BadFile("too_large", LONG_ROW)
        more = self._stream.read(max(_WINDOW, len(kept)))
        self.text, self.at = kept + more, 0
        return bool(more)
