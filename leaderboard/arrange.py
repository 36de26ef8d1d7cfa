"""A board under a view: which columns and rows are shown, and in which order; ranks never change with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leaderboard.records import Board, Column, Group, Row, Summary
from leaderboard.search import matcher
from leaderboard.view import NO_SIZE, SIZES, View

_FOLDED_AWAY = frozenset({"em_lenient", "em_compat", "f1_compat"})


@dataclass(frozen=True, slots=True)
class Section:
    """Rows shown together; `title` is empty where the board is one flat list."""

    title: str
    summary: Summary | None
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Arranged:
    """What the page shows of a board."""

    columns: tuple[Column, ...]
    sections: tuple[Section, ...]
    shown: int
    total: int


def arrange(board: Board, view: View) -> Arranged:
    """Filter and sort; a row without the sorted number comes last in both directions."""
    groups = [(group, _sorted(_kept(group.rows, view), view, board)) for group in board.groups]
    if view.flat:
        everything = _sorted([row for _, rows in groups for row in rows], view, board)
        sections = [Section("", None, tuple(everything))] if everything else []
    else:
        sections = [Section(g.title, _summary(g, rows), tuple(rows)) for g, rows in groups if rows]
    shown = sum(len(section.rows) for section in sections)
    return Arranged(visible_columns(board, view), tuple(sections), shown, len(board.rows))


def visible_columns(board: Board, view: View) -> tuple[Column, ...]:
    """The chosen columns in the board's order; the usual ones where none that exists was chosen."""
    chosen = tuple(column for column in board.columns if column.key in view.columns)
    return chosen or tuple(column for column in board.columns if column.metric not in _FOLDED_AWAY)


def simplest(board: Board, view: View) -> View:
    """The same view with what the board does by itself left out, so that its URL is short."""
    usual = tuple(column.key for column in visible_columns(board, View()))
    columns = () if set(view.columns) == set(usual) else view.columns
    if view.sort == board.rank_by or (not board.rank_by and view.sort == "system" and view.ascending):
        return replace(view, columns=columns, sort="", ascending=view.ascending and bool(board.rank_by))
    return replace(view, columns=columns)


def places(board: Board, arranged: Arranged) -> dict[str, list[int | None]]:
    """By what headings sort by: the place of each shown row's value among all, from 0 up, None where it has none.

    Rows are in the board's own order, and equal values share a place: what a browser needs to sort as `arrange` does.
    """
    rows = shown_rows(board, arranged)
    by_name = {"system": _places([row.entry.system.casefold() for row in rows])}
    return by_name | {c.key: _places([row.metrics[c.key].value for row in rows]) for c in arranged.columns}


def shown_rows(board: Board, arranged: Arranged) -> list[Row]:
    """The rows that are shown, in the board's own order."""
    shown = {id(row) for section in arranged.sections for row in section.rows}
    return [row for row in board.rows if id(row) in shown]


def _places(values: Sequence[Any]) -> list[int | None]:
    order = {value: at for at, value in enumerate(sorted({value for value in values if value is not None}))}
    return [None if value is None else order[value] for value in values]


def _summary(group: Group, rows: Sequence[Row]) -> Summary | None:
    """The summary describes all of an architecture, so it is hidden where a filter hides some of it."""
    return group.summary if len(rows) == len(group.rows) else None


def _kept(rows: Sequence[Row], view: View) -> list[Row]:
    matches = matcher(view.q)
    return [
        row
        for row in rows
        if matches(row.entry)
        and (not view.architectures or row.entry.architecture in view.architectures)
        and (not view.supervision or row.entry.supervision == view.supervision)
        and _has_size(row.entry.size, view.size)
        and (not view.references or row.entry.reference == (view.references == "only"))
    ]


def _has_size(size: float | None, wanted: str) -> bool:
    if not wanted or (wanted == NO_SIZE and size is None):
        return True
    _, least, below = SIZES.get(wanted, ("", 0.0, 0.0))
    return size is not None and least <= size < below


def _sorted(rows: Sequence[Row], view: View, board: Board) -> list[Row]:
    key = _number(view.sort or board.rank_by or "system", board)
    by_name = sorted(
        rows, key=lambda row: row.entry.system.casefold(), reverse=view.sort == "system" and not view.ascending
    )
    if key is None:
        return by_name
    known = [row for row in by_name if key(row) is not None]
    unknown = [row for row in by_name if key(row) is None]
    sign = 1 if view.ascending else -1
    return sorted(known, key=lambda row: sign * (key(row) or 0.0)) + unknown


def _number(sort: str, board: Board) -> Callable[[Row], float | None] | None:
    """What a sort compares: None for names, which every row has."""
    if sort == "coverage":
        return lambda row: row.entry.coverage
    if sort == "size":
        return lambda row: row.entry.size
    if board.column(sort) is None:
        return None
    return lambda row: row.metrics[sort].value
