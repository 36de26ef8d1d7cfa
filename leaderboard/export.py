"""The whole board as a file: JSON as the API gives it, or one flat row per system as CSV or Parquet."""

from __future__ import annotations

import csv
import io
import json
from typing import Any, BinaryIO

from leaderboard.records import Board, Row
from scorer.outputs import escape_formula

KINDS = ("csv", "json", "parquet")
_NUMBERS = ("value", "low", "high", "se")
_TEXTS = ("method", "reason", "unranked", "signature")


def write_board(board: Board, kind: str, stream: BinaryIO) -> None:
    """Write the board in one of `KINDS`; CSV cells that a spreadsheet would run are escaped, nothing else is."""
    if kind == "json":
        stream.write(json.dumps(board.to_dict(), ensure_ascii=False, indent=2, allow_nan=False).encode() + b"\n")
        return
    rows = [_flat(board, row) for row in board.rows]
    header = _columns(board)
    if kind == "parquet":
        _write_parquet(header, rows, stream)
        return
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_cell(row[name]) for name in header] for row in rows)
    text.detach()


def _columns(board: Board) -> dict[str, str]:
    """Column → kind of its values."""
    columns = dict.fromkeys(("system", "team", "architecture", "supervision", "submission"), "text")
    columns |= {"version": "integer", "coverage": "number", "uses_autoais": "flag", "reference": "flag"}
    columns |= {"synthetic_ratings": "flag", "rank_by": "text", "rank_best": "integer", "rank_worst": "integer"}
    for column in board.columns:
        columns |= {_name(column.key, part): "number" for part in _NUMBERS}
        columns[_name(column.key, "n")] = "integer"
        columns |= {_name(column.key, part): "text" for part in _TEXTS}
        if column.judge:
            columns[_name(column.key, "judge")] = "text"
    return columns


def _flat(board: Board, row: Row) -> dict[str, Any]:
    entry = row.entry
    flat: dict[str, Any] = {
        "system": entry.system, "team": entry.team, "architecture": entry.architecture,
        "supervision": entry.supervision, "submission": entry.submission, "version": entry.version,
        "coverage": entry.coverage, "uses_autoais": entry.uses_autoais, "reference": entry.reference,
        "synthetic_ratings": board.synthetic, "rank_by": board.rank_by,
        "rank_best": row.rank.best if row.rank else None, "rank_worst": row.rank.worst if row.rank else None,
    }  # fmt: skip
    for column in board.columns:
        cell = row.metrics[column.key]
        flat |= {_name(column.key, part): getattr(cell, part) for part in (*_NUMBERS, "n", *_TEXTS)}
        if column.judge:
            flat[_name(column.key, "judge")] = column.judge.key
    return flat


def _name(key: str, part: str) -> str:
    return key if part == "value" else f"{key}_{part}"


def _cell(value: Any) -> Any:
    return escape_formula(value) if isinstance(value, str) else value


def _write_parquet(columns: dict[str, str], rows: list[dict[str, Any]], stream: BinaryIO) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    kinds = {"text": pa.string(), "number": pa.float64(), "integer": pa.int64(), "flag": pa.bool_()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns.items()])
    parquet.write_table(pa.Table.from_pylist(rows, schema), stream, compression="zstd")
