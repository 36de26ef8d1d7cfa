"""Tables out, as CSV, JSON Lines or Parquet; in CSV, and only there, what a spreadsheet would run is escaped."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO, TextIO

from core.errors import InvalidInput

CSV_ESCAPE = (
    "In CSV files only, a text that begins with =, +, -, @, a tab or a carriage return has an apostrophe put before "
    "it, because a spreadsheet would run it as a formula."
)
KINDS = ("csv", "jsonl", "parquet")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_ARROW = {"text": "string", "integer": "int64", "number": "float64", "boolean": "bool_"}


def escape_formula(text: str) -> str:
    """A text that no spreadsheet runs (see `CSV_ESCAPE`)."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def csv_writer(text: TextIO) -> Any:
    """A writer of rows that end in LF; a lone CR in a field is quoted too, since readers take it for a row's end."""
    return csv.writer(_LfRows(text), lineterminator="\r\n")


class _LfRows:
    """Ends with LF the rows that the csv module ends with CRLF; it quotes only what stands in its line end."""

    def __init__(self, text: TextIO) -> None:
        self._text = text

    def write(self, row: str) -> None:
        self._text.write(f"{row[:-2]}\n")


def write_table(kind: str, columns: Mapping[str, str], rows: Iterable[tuple[Any, ...]], stream: BinaryIO) -> None:
    """Write rows under `columns` (name → text, integer, number or boolean); None is empty or null.

    Raises `InvalidInput` for a kind that is none of `KINDS`.
    """
    if kind == "csv":
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
        writer = csv_writer(text)
        writer.writerow(columns)
        writer.writerows([escape_formula(v) if isinstance(v, str) else v for v in row] for row in rows)
        text.detach()
    elif kind == "jsonl":
        for row in rows:
            entry = dict(zip(columns, row, strict=True))
            stream.write(json.dumps(entry, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n")
    elif kind == "parquet":
        _write_parquet(columns, rows, stream)
    else:
        raise InvalidInput(f"There is no kind of file {kind!r}.", f"Kinds: {', '.join(KINDS)}.")


def _write_parquet(columns: Mapping[str, str], rows: Iterable[tuple[Any, ...]], stream: BinaryIO) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([(name, getattr(pa, _ARROW[kind])()) for name, kind in columns.items()])
    table = pa.Table.from_pylist([dict(zip(columns, row, strict=True)) for row in rows], schema)
    parquet.write_table(table, stream, compression="zstd")
