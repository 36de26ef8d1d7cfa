"""JSON Lines and JSON arrays: one object per row, literals as typed."""

from __future__ import annotations

import io
import json
from typing import Any

from submissions.formats.cells import check_cell
from submissions.formats.columns import Columns
from submissions.formats.findings import BadFile, Findings, excerpt
from submissions.formats.json_array import elements
from submissions.formats.json_decoder import LONG_ROW, Decoder, explain, may_go_on
from submissions.formats.limits import Limits
from submissions.formats.rows import TableRow

_MEND = 'Each row is one object with the columns as its keys, such as {"id": "…"}.'


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
            if isinstance(content, dict | list) and target in self._columns.nested:
                content = json.dumps(content, ensure_ascii=False)
            elif isinstance(content, dict | list):
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
    decoder, rows = Decoder(), _Rows(columns, limits, findings)
    row = 0
    for number, line in enumerate(io.BytesIO(data), 1):
        if not line.strip(b" \t\r\n"):
            continue
        row += 1
        _check_rows(row, limits)
        if len(line) > limits.file_bytes:
            raise BadFile("too_large", LONG_ROW, row)
        text = line.decode("utf-8")
        try:
            value = decoder.line(text)
        except json.JSONDecodeError as error:
            cut = " The object does not end on its line; write each row on one line." * may_go_on(error, text)
            findings.problem("invalid_json", explain(error, f"line {number}, ") + cut, row, excerpt(text))
        except BadFile as error:
            findings.problem(error.kind, error.message, row, excerpt(text))
        else:
            rows.add(row, value, decoder.faults, text)
    return rows.rows


def read_json(data: bytes, columns: Columns, limits: Limits, findings: Findings) -> list[TableRow]:
    """All rows of a UTF-8 text without BOM that holds one array. Raises `BadFile` where reading cannot go on."""
    decoder, rows = Decoder(), _Rows(columns, limits, findings)
    for row, value, start in elements(data, decoder, limits):
        _check_rows(row, limits)
        rows.add(row, value, decoder.faults, start)
    return rows.rows


def _check_rows(row: int, limits: Limits) -> None:
    if row > limits.rows:
        raise BadFile("too_large", f"The file holds more than the {limits.rows:,} rows allowed.")
