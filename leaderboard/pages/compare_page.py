"""The comparison of two systems: differences, the grid of wins, and the questions where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from core.database import Database
from core.tracks import QA
from leaderboard.cache import Boards
from leaderboard.compare import Difference, Duel, Signs, contrasts, duel
from leaderboard.pages.frame import CHOOSE, QUIET, benchmark_choices, page_number, query_of, view_of
from leaderboard.pages.render import render
from leaderboard.pages.ways import COMPARISONS, elsewhere
from leaderboard.records import Board, Row
from scorer.statistics.resamples import ResampleStore

_PER_PAGE = 20
_ALL = ""


class ComparePage:
    """Callbacks of the page."""

    def __init__(self, database: Database, boards: Boards, store: ResampleStore) -> None:
        self._database = database
        self._boards = boards
        self._store = store

    def add(self, page: gr.Blocks) -> None:
        """Lay out the page and wire it."""
        with gr.Row():
            benchmark = gr.Dropdown(label="Benchmark", choices=[], elem_id="benchmark", min_width=220)
            first = gr.Dropdown(label="First system", choices=[], elem_id="first", min_width=220)
            second = gr.Dropdown(label="Second system", choices=[], elem_id="second", min_width=220)
        comparison = view_of("comparison", CHOOSE)
        with gr.Row():
            cell = gr.Dropdown(label="Questions shown", choices=[], elem_id="cell", min_width=280)
            number = gr.Number(label="Page", value=1, precision=0, minimum=1, elem_id="page", min_width=80)
        questions = view_of("questions")
        controls = [benchmark, first, second, cell, number]
        page.load(self.load, None, [*controls, comparison, questions], **QUIET)
        benchmark.input(self.switch, benchmark, [*controls, comparison, questions], **QUIET)
        gr.on(
            [first.input, second.input], self.pair, [benchmark, first, second], [cell, number, comparison, questions],
            trigger_mode="always_last", **QUIET,
        )  # fmt: skip
        comparison.click(self.choose, [benchmark, first, second], [cell, number, questions], **QUIET)
        cell.input(self.cell, [benchmark, first, second, cell], [number, questions], **QUIET)
        number.input(self.questions, controls, questions, trigger_mode="always_last", **QUIET)

    def load(self, request: gr.Request) -> list[Any]:
        """Controls and tables as the URL asks."""
        query = request.query_params
        wanted = query.get("benchmark", "")
        there, benchmark = benchmark_choices(self._database, wanted)
        if wanted != benchmark and (way := elsewhere(self._database, wanted, QA, COMPARISONS)):
            return [gr.update(choices=there), *[gr.update()] * 4, way, ""]
        if not benchmark:
            return [gr.update()] * 5 + [render("no_benchmark.html"), ""]
        found = self._shown(
            benchmark, query.get("a", ""), query.get("b", ""), query.get("cell", _ALL), page_number(query.get("page"))
        )
        return [gr.update(choices=there, value=benchmark), *found]

    def switch(self, benchmark: str) -> list[Any]:
        """Another benchmark: its two best systems."""
        return [gr.update(value=benchmark), *self._shown(benchmark, "", "", _ALL, 1)]

    def pair(self, benchmark: str, first: str, second: str) -> list[Any]:
        """Another pair: its grid, and the first of its questions."""
        return self._shown(benchmark, first, second, _ALL, 1)[2:]

    def choose(self, benchmark: str, first: str, second: str, event: gr.EventData) -> list[Any]:
        """A cell of the grid was clicked."""
        chosen = str(event._data.get("choose", _ALL))
        return [gr.update(value=chosen), 1, self.questions(benchmark, first, second, chosen, 1)]

    def cell(self, benchmark: str, first: str, second: str, cell: str) -> list[Any]:
        """Other questions, from their first page."""
        return [1, self.questions(benchmark, first, second, cell, 1)]

    def questions(self, benchmark: str, first: str, second: str, cell: str, number: Any) -> str:
        """A page of questions."""
        board = self._boards.get(benchmark)
        one, two = chosen_rows(board, first, second)
        if one is None or two is None:
            return ""
        with self._database.reading() as session:
            found = duel(session, board, one, two, self._store)
        return self._questions(board, found, cell, page_number(number))

    def _shown(self, benchmark: str, first: str, second: str, cell: str, number: int) -> list[Any]:
        """First, second, cell, page, comparison, questions."""
        board = self._boards.get(benchmark)
        systems = [(f"{row.entry.system} ({row.entry.team})", str(row.entry.system_id)) for row in ordered(board)]
        one, two = chosen_rows(board, first, second)
        if one is None or two is None:
            empty = render("empty.html", text="A comparison needs two published systems on this benchmark.")
            nothing = gr.update(choices=systems, value=None)
            return [nothing, nothing, gr.update(choices=[], value=None), 1, empty, ""]
        with self._database.reading() as session:
            found = duel(session, board, one, two, self._store)
        cells = [("All questions where they differ", _ALL), *_cells(found)]
        cell = cell if cell in [key for _, key in cells] else _ALL
        return [
            gr.update(choices=systems, value=str(one.entry.system_id)),
            gr.update(choices=systems, value=str(two.entry.system_id)),
            gr.update(choices=cells, value=cell),
            number,
            render(
                "compare.html", board=board, duel=found, signs=(1, 0, -1), key=_key, extent=extent(found.differences)
            ),
            self._questions(board, found, cell, number),
        ]

    def _questions(self, board: Board, found: Duel, cell: str, number: int) -> str:
        with self._database.reading() as session:
            page, total = contrasts(
                session, board.benchmark, found, chosen=_signs(cell), start=(number - 1) * _PER_PAGE, count=_PER_PAGE
            )
        query = query_of(
            benchmark=board.benchmark, a=found.first.entry.system_id, b=found.second.entry.system_id, cell=cell,
            page=number if number > 1 else "",
        )  # fmt: skip
        return render(
            "contrasts.html", board=board, duel=found, contrasts=page, total=total, page=number,
            pages=max(-(-total // _PER_PAGE), 1), query=query,
        )  # fmt: skip


def ordered(board: Board) -> list[Row]:
    """Best place first, those without a rank last."""

    def place(row: Row) -> tuple[int, int]:
        return (row.rank.best, row.rank.worst) if row.rank else (len(board.rows), len(board.rows))

    return sorted(board.rows, key=lambda row: (row.rank is None, place(row), row.entry.system.casefold()))


def chosen_rows(board: Board, first: str, second: str) -> tuple[Row | None, Row | None]:
    """The rows of two system ids; what is not there becomes the best that is not the other."""
    by_id = {str(row.entry.system_id): row for row in ordered(board)}
    one = by_id.get(str(first)) or next((row for key, row in by_id.items() if key != str(second)), None)
    two = by_id.get(str(second)) or next((row for row in by_id.values() if row is not one), None)
    return one, two


def extent(found: Sequence[Difference]) -> float:
    """Half the width of the drawings, in points: what the widest interval needs."""
    ends = [
        abs(end)
        for each in found
        if each.found is not None
        for end in (each.found.interval.low, each.found.interval.high)
        if end is not None
    ]
    return max(100 * max(ends, default=1.0), 1.0)


def _key(signs: Signs) -> str:
    return ",".join(map(str, signs))


def _signs(cell: str) -> Signs | None:
    parts = cell.split(",") if cell else []
    return tuple(int(part) for part in parts) if len(parts) == 3 and set(parts) <= {"1", "0", "-1"} else None


def _cells(found: Duel) -> list[tuple[str, str]]:
    """The cells of the grid that hold questions, in words."""
    words = {1: "first better", 0: "tie", -1: "second better"}
    return [
        (f"EM {words[em]}, judge {words[autoais]}, AIS {words[ais]} ({count})", _key((em, autoais, ais)))
        for (em, autoais, ais), count in sorted(found.grid.items(), reverse=True)
    ]
