"""JSON Lines and JSON arrays: one object per row, numbers kept as the characters that were typed."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any

from submissions.formats.cells import check_cell
from submissions.formats.columns import Columns
from submissions.formats.findings import BadFile, Findings, excerpt
from submissions.formats.limits import Limits
from submissions.formats.rows import TableRow

_BLANK = re.compile(r"[ \t\n\r]*")
_WINDOW = 1 << 20
_LONG_ROW = "One row alone is larger than a whole file may be."
_MEND = 'Each row is one object, e.g. {"question": "…", "answer": "…", "attribution": "…"}.'


class _Decoder:
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
        value, end = self.at(text, _blank_end(text, 0))
        rest = _blank_end(text, end)
        if rest != len(text):
            raise json.JSONDecodeError("More than one value on a line; lines end with LF", text, rest)
        return value

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) != len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            self.faults.append(("duplicate_key", f"The key “{excerpt(twice)}” stands twice in one object. Keep one."))
        return values

    def _constant(self, text: str) -> None:
        self.faults.append(("not_a_number", f"{text} is not JSON. Write null, or a text in quotes."))


class _Rows:
    """Turns decoded values into rows, and reports those that cannot be."""

    def __init__(self, columns: Columns, limits: Limits, findings: Findings) -> None:
        self.rows: list[TableRow] = []
        self._columns, self._limits, self._findings = columns, limits, findings

    def add(self, row: int, value: Any, faults: list[tuple[str, str]], start: str) -> None:
        for kind, message in faults:
            self._findings.problem(kind, message, row, excerpt(start))
        if not isinstance(value, dict):
            self._findings.problem("invalid_json", f"This is not an object. {_MEND}", row, excerpt(start))
        elif not faults:
            self._add_object(row, value, start)

    def _add_object(self, row: int, value: dict[str, Any], start: str) -> None:
        cells: dict[str, str | None] = {}
        sound = True
        for key, content in value.items():
            target = self._columns.add(key)
            if isinstance(content, dict | list):
                if target is not None:
                    message = f"“{excerpt(key)}” holds a list or an object where a text is needed."
                    self._findings.problem("nested_value", message, row, excerpt(start))
                    sound = False
                continue
            text = ("true" if content else "false") if isinstance(content, bool) else content
            if text is not None:
                sound &= check_cell(row, key, text, start, self._limits, self._findings)
            if target is not None:
                cells[target] = text
        if sound:
            self.rows.append(TableRow(row, cells))


def read_jsonl(data: bytes, columns: Columns, limits: Limits, findings: Findings) -> list[TableRow]:
    """All rows of a UTF-8 text without BOM; lines end with LF alone. Raises `BadFile`."""
    decoder, rows = _Decoder(), _Rows(columns, limits, findings)
    row = 0
    for number, line in enumerate(io.BytesIO(data), 1):
        if not line.strip(b" \t\r\n"):
            continue
        row += 1
        _check_rows(row, limits)
        if len(line) > limits.file_bytes:
            raise BadFile("too_large", _LONG_ROW, row)
        text = line.decode("utf-8")
        try:
            value = decoder.line(text)
        except json.JSONDecodeError as error:
            cut = " The object does not end on its line; write each row on one line." * _may_go_on(error, text)
            findings.problem("invalid_json", _explain(error, f"line {number}, ") + cut, row, excerpt(text))
        except BadFile as error:
            findings.problem(error.kind, error.message, row, excerpt(text))
        else:
            rows.add(row, value, decoder.faults, text)
    return rows.rows


def read_json(data: bytes, columns: Columns, limits: Limits, findings: Findings) -> list[TableRow]:
    """All rows of a UTF-8 text without BOM that holds one array. Raises `BadFile` where reading cannot go on."""
    decoder, rows = _Decoder(), _Rows(columns, limits, findings)
    for row, value, start in _elements(data, decoder, limits):
        _check_rows(row, limits)
        rows.add(row, value, decoder.faults, start)
    return rows.rows


def _elements(data: bytes, decoder: _Decoder, limits: Limits) -> Iterator[tuple[int, Any, str]]:
    """Row number, value and first characters of each element; decodes a window at a time, not the whole file."""
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
                raise BadFile("invalid_json", _explain(error), row, excerpt(start)) from None
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
            self.at = _blank_end(self.text, self.at)
            if self.at < len(self.text) or not self._grow():
                return self.text[self.at : self.at + 1]

    def take(self, character: str) -> None:
        """Step over a character that `peek` showed."""
        if self.peek() == character:
            self.at += 1

    def value(self, decoder: _Decoder) -> Any:
        """The value at the current place. Raises `json.JSONDecodeError` once the text has ended."""
        while True:
            start = self.at
            try:
                value, self.at = decoder.at(self.text, start)
            except json.JSONDecodeError as error:
                if not _may_go_on(error, self.text) or not self._grow():
                    raise json.JSONDecodeError(error.msg, self.text[self.at :], error.pos - start) from None
            else:
                return value

    def _grow(self) -> bool:
        """Doubles what is left, so that a value larger than the window costs linear time in all."""
        kept = self.text[self.at :]
        if len(kept) > self._longest:
            raise BadFile("too_large", _LONG_ROW)
        more = self._stream.read(max(_WINDOW, len(kept)))
        self.text, self.at = kept + more, 0
        return bool(more)


def _may_go_on(error: json.JSONDecodeError, text: str) -> bool:
    """True if more text could mend the error: it is at the end of the window, or a string is still open."""
    return error.pos + len("-Infinity") >= len(text) or error.msg.startswith("Unterminated string")


def _blank_end(text: str, start: int) -> int:
    match = _BLANK.match(text, start)
    return match.end() if match else start


def _check_rows(row: int, limits: Limits) -> None:
    if row > limits.rows:
        raise BadFile("too_large", f"The file holds more than the {limits.rows:,} rows allowed.")


def _explain(error: json.JSONDecodeError, where: str = "") -> str:
    return f"This is not valid JSON ({where}character {error.pos + 1:,}): {error.msg}."
