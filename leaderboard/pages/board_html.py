"""The board as HTML: one table, grouped by architecture, with bars, whiskers and numbered notes."""

from __future__ import annotations

from urllib.parse import urlencode

from core.tracks import WORDS
from leaderboard.arrange import Arranged, arrange, places, shown_rows
from leaderboard.citation import board_bibtex
from leaderboard.pages.render import render
from leaderboard.records import Board, Cell
from leaderboard.view import View
from submissions.editing.labels import left_out_in_words
from submissions.labels import few_raters_in_words


class Notes:
    """Numbers the reasons that cells point at, in the order of first use."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """The number of a note."""
        return self._numbers.setdefault(text, len(self._numbers) + 1)

    def listed(self) -> list[tuple[int, str]]:
        """Number and text of each note."""
        return [(number, text) for text, number in self._numbers.items()]


def board_html(board: Board, view: View, public_url: str = "") -> str:
    """The table of a board under a view, with its legend, or what to do where it is empty."""
    arranged = arrange(board, view)
    notes = Notes()
    body = render(
        "table.html", board=board, view=view, arranged=arranged, note=notes, words=WORDS[board.track],
        system_link=lambda system_id: "system?" + urlencode({"benchmark": board.benchmark, "id": system_id}),
        sort=sort_of(board, view), cell_note=cell_note, places=places(board, arranged),
        at={row.entry.system_id: at for at, row in enumerate(shown_rows(board, arranged))},
    ) if arranged.shown else ""  # fmt: skip
    return render(
        "board.html", board=board, view=view, arranged=arranged, words=WORDS[board.track], table=body,
        notes=notes.listed(), cleared=View(benchmark=view.benchmark).query(), message=message(board, arranged),
        bibtex=board_bibtex(board, f"{public_url}/leaderboard/?" + urlencode({"benchmark": board.benchmark})),
    )  # fmt: skip


def cell_note(cell: Cell, ranked_column: bool) -> str | None:
    """What must be said of a number: why there is none, why it is struck or has no rank, what is left out of it."""
    if cell.reason:
        return cell.reason
    note = cell.struck or (cell.unranked if ranked_column else None)
    of_labels = [*left_out_in_words(cell.details.get("left_out", {})), *few_raters_in_words(cell.details)]
    return " ".join([*([note] if note else []), *of_labels]) or None


def sort_of(board: Board, view: View) -> tuple[str, bool]:
    """The column the rows stand by, and whether ascending; names do where nothing was chosen and nothing is ranked."""
    chosen = view.sort or board.rank_by
    return chosen or "system", view.ascending or not chosen


def message(board: Board, arranged: Arranged) -> str:
    """One line for sight and for screen readers."""
    if not board.rows:
        return "No system is published on this benchmark yet"
    if not arranged.shown:
        return "No system matches"
    count = f"{arranged.shown} of {arranged.total} systems" if arranged.shown < arranged.total else (
        "1 system" if arranged.total == 1 else f"{arranged.total} systems")  # fmt: skip
    return count
