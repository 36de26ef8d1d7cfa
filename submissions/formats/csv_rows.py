"""CSV and TSV: the standard library's reader in strict mode, with every cell as text."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator

from submissions.formats.cells import check_cell
from submissions.formats.columns import Columns, listed
from submissions.formats.findings import BadFile, Findings, excerpt
from submissions.formats.limits import Limits
from submissions.formats.rows import TableRow

DELIMITERS = {"csv": ",", "tsv": "\t"}

# The reader's own cap (131,072 characters) is one number for the whole process. It is set to one constant, so threads
# cannot undo each other's value; the length of a field is checked against `Limits` instead.
_NO_CAP = 2**31 - 1


class _Lines:
    """Physical lines (LF, CRLF or CR, kept) that remember where the current record began."""

    def __init__(self, data: bytes, longest: int) -> None:
        self._longest = longest
        self._size = 0
        self._lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
        self.number = 0
        self.first = ""
        self.first_number = 0
        self._fresh = True

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.number += 1
            if self._fresh:
                self.first, self.first_number, self._size, self._fresh = line, self.number, 0, False
            self._size += len(line)
            if self._size > self._longest:
                raise BadFile("too_large", "One row alone is larger than a whole file may be; is a quote missing?")
            yield line

    def next_record(self) -> None:
        self._fresh = True


def delimited_kind(data: bytes, limits: Limits) -> str:
    """`tsv` if tabs part the first row into more fields than commas do, else `csv`."""
    return max(DELIMITERS, key=lambda kind: _header_width(data, DELIMITERS[kind], limits))


def read_csv(data: bytes, kind: str, columns: Columns, limits: Limits, findings: Findings) -> list[TableRow]:
    """All rows of a UTF-8 text without BOM. Raises `BadFile` where reading cannot go on."""
    csv.field_size_limit(_NO_CAP)
    lines = _Lines(data, limits.file_bytes)
    records = _records(lines, DELIMITERS[kind])
    header = next(records, [])
    targets = _targets(header, columns)
    rows: list[TableRow] = []
    row = 0
    for fields in records:
        row += 1
        if row > limits.rows:
            raise BadFile("too_large", f"The file holds more than the {limits.rows:,} rows allowed.")
        if len(fields) != len(header):
            message = (
                f"There are {len(fields)} fields (line {lines.first_number}) where the header has {len(header)}. "
                "Put a text that holds the separator in double quotes."
            )
            findings.problem("field_count", message, row, excerpt(lines.first))
            continue
        # A list: every cell is checked, so that counts are complete.
        sound = [
            check_cell(row, name, text, lines.first, limits, findings)
            for name, text in zip(header, fields, strict=True)
        ]
        if all(sound):
            kept = zip(targets, fields, strict=True)
            rows.append(TableRow(row, {target: text for target, text in kept if target is not None}))
    return rows


def _records(lines: _Lines, delimiter: str) -> Iterator[list[str]]:
    """The header, then the rows; blank lines are left out."""
    reader = csv.reader(iter(lines), delimiter=delimiter, strict=True)
    row = 0
    while True:
        lines.next_record()
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise _bad_quotes(error, lines, row) from None
        if fields is None:
            return
        if len(fields) > 1 or (fields and fields[0].strip()):
            yield fields
            row += 1


def _bad_quotes(error: csv.Error, lines: _Lines, row: int) -> BadFile:
    where = f"line {lines.first_number}"
    if "unexpected end" in str(error):
        message = f"A double quote opens a field here ({where}) and is never closed."
    elif lines.number > lines.first_number:
        message = f"A double quote opens a field here ({where}); it is closed amid a text in line {lines.number}."
    else:
        message = f"A quoted field here ({where}) goes on behind its closing quote."
    mend = " Put the field in double quotes and double each quote inside it."
    return BadFile("quoting", message + mend, row or None, excerpt(lines.first))


def _targets(header: list[str], columns: Columns) -> list[str | None]:
    repeated = [name for name, times in Counter(header).items() if times > 1]
    if repeated:
        raise BadFile("wrong_header", f"The header names a column twice: {listed(repeated)}. Keep one of each.")
    bad = next((name for name in header if "\0" in name), None)
    if bad is not None:
        raise BadFile("nul_byte", "There is a NUL character in the header. Remove it.", None, excerpt(bad))
    return [columns.add(name) for name in header]


def _header_width(data: bytes, delimiter: str, limits: Limits) -> int:
    csv.field_size_limit(_NO_CAP)
    try:
        return len(next(_records(_Lines(data, limits.file_bytes), delimiter), []))
    except BadFile:
        return 0
