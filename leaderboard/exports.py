"""The board as a table for other programs: one row per system, every number with what it depends on."""

from __future__ import annotations

import io
import json
from typing import Any

from core.errors import InvalidInput
from core.tabular import write_table
from leaderboard.records import Board, Cell, Column, Row

KINDS = ("csv", "json", "parquet")
_SYSTEM = {
    "system": "text", "team": "text", "architecture": "text", "supervision": "text", "uses_autoais": "boolean",
    "size": "number", "reference": "boolean", "submission": "text", "version": "integer", "published_at": "text",
    "coverage": "number", "rank_best": "integer", "rank_worst": "integer", "unranked": "text",
}  # fmt: skip
_CELL = {
    "": "number", "_low": "number", "_high": "number", "_se": "number", "_n": "integer", "_method": "text",
    "_struck": "text", "_reason": "text", "_signature": "text",
}  # fmt: skip


def export(board: Board, kind: str) -> tuple[bytes, str]:
    """The board in one of `KINDS` and a file name. Raises `InvalidInput` for another kind.

    Rates are 0 to 1, unrounded; what is undefined is empty or null beside its reason.
    """
    if kind not in KINDS:
        raise InvalidInput(f"There is no export of the kind {kind[:20]!r}.", f"Kinds: {', '.join(KINDS)}.")
    name = f"{board.benchmark}-leaderboard.{kind}"
    if kind == "json":
        text = json.dumps(board.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)
        return text.encode("utf-8", "surrogatepass"), name
    columns = _SYSTEM | {each.key + end: typ for each in board.columns for end, typ in _parts(each).items()}
    columns |= {"synthetic_ratings": "boolean", "rank_by": "text"}
    stream = io.BytesIO()
    write_table(kind, columns, (_row(board, row) for row in board.rows), stream)
    return stream.getvalue(), name


def _row(board: Board, row: Row) -> tuple[Any, ...]:
    entry = row.entry
    about = (
        entry.system, entry.team, entry.architecture, entry.supervision, entry.uses_autoais, entry.size,
        entry.reference, entry.submission, entry.version,
        entry.published_at.isoformat() if entry.published_at else None, entry.coverage,
        row.rank.best if row.rank else None, row.rank.worst if row.rank else None, row.unranked,
    )  # fmt: skip
    numbers = [value for column in board.columns for value in _cell(column, row.metrics[column.key])]
    return (*about, *numbers, board.synthetic, board.rank_by)


def _parts(column: Column) -> dict[str, str]:
    return _CELL | ({"_judge": "text"} if column.judge else {})


def _cell(column: Column, cell: Cell) -> tuple[Any, ...]:
    return (
        cell.value, cell.low, cell.high, cell.se, cell.n, cell.method, cell.struck, cell.reason, cell.signature,
        *([column.judge.key] if column.judge else []),
    )  # fmt: skip
