"""Two systems of the editing track side by side: differences, and the passages on which they are widest apart."""

from __future__ import annotations

from typing import Any

import gradio as gr

from core.benchmark import Benchmarks
from core.database import Database
from core.tracks import EDITING
from leaderboard.cache import Boards
from leaderboard.editing_compare import differences, widest
from leaderboard.pages.compare_page import chosen_rows, extent, ordered
from leaderboard.pages.frame import QUIET, benchmark_choices, query_of, view_of
from leaderboard.pages.render import render
from leaderboard.pages.ways import COMPARISONS, elsewhere
from leaderboard.records import Board
from scorer.statistics.resamples import ResampleStore

_SHOWN = 20
_USUAL = "attr_auto"


class EditingComparePage:
    """Callbacks of the page."""

    def __init__(self, database: Database, boards: Boards, store: ResampleStore, benchmarks: Benchmarks) -> None:
        self._database = database
        self._boards = boards
        self._store = store
        self._benchmarks = benchmarks

    def add(self, page: gr.Blocks) -> None:
        """Lay out the page and wire it."""
        gr.HTML(render("editing_ways.html", here="editing-compare"), js_on_load=None, apply_default_css=False)
        with gr.Row():
            benchmark = gr.Dropdown(label="Benchmark", choices=[], elem_id="benchmark", min_width=220)
            first = gr.Dropdown(label="First system", choices=[], elem_id="first", min_width=200)
            second = gr.Dropdown(label="Second system", choices=[], elem_id="second", min_width=200)
            metric = gr.Dropdown(label="Passages by", choices=[], elem_id="metric", min_width=160)
        comparison = view_of("comparison")
        controls = [benchmark, first, second, metric]
        page.load(self.load, None, [*controls, comparison], **QUIET)
        benchmark.input(self.switch, benchmark, [*controls, comparison], **QUIET)
        gr.on(
            [first.input, second.input, metric.input], self.chosen, controls, [*controls[1:], comparison],
            trigger_mode="always_last", **QUIET,
        )  # fmt: skip

    def load(self, request: gr.Request) -> list[Any]:
        """Controls and comparison as the URL asks."""
        query = request.query_params
        wanted = query.get("benchmark", "")
        there, benchmark = benchmark_choices(self._database, wanted, EDITING)
        if wanted != benchmark and (way := elsewhere(self._database, wanted, EDITING, COMPARISONS)):
            return [gr.update(choices=there), *[gr.update()] * 3, way]
        if not benchmark:
            return [gr.update()] * 4 + [render("editing_no_benchmark.html")]
        shown = self.chosen(benchmark, query.get("a", ""), query.get("b", ""), query.get("by", ""))
        return [gr.update(choices=there, value=benchmark), *shown]

    def switch(self, benchmark: str) -> list[Any]:
        """Another benchmark: its two best systems."""
        return [gr.update(value=benchmark), *self.chosen(benchmark, "", "", "")]

    def chosen(self, benchmark: str, first: str, second: str, metric: str) -> list[Any]:
        """First, second, metric, comparison."""
        board = self._boards.get(benchmark)
        systems = [(f"{row.entry.system} ({row.entry.team})", str(row.entry.system_id)) for row in ordered(board)]
        one, two = chosen_rows(board, first, second)
        titles = [(column.title, column.key) for column in board.columns if not column.apart]
        metric = metric if metric in [key for _, key in titles] else _USUAL
        if one is None or two is None:
            empty = render("empty.html", text="A comparison needs two published systems on this benchmark.")
            nothing = gr.update(choices=systems, value=None)
            return [nothing, nothing, gr.update(choices=titles, value=metric), empty]
        return [
            gr.update(choices=systems, value=str(one.entry.system_id)),
            gr.update(choices=systems, value=str(two.entry.system_id)),
            gr.update(choices=titles, value=metric),
            self._html(board, str(one.entry.system_id), str(two.entry.system_id), metric),
        ]

    def _html(self, board: Board, first: str, second: str, metric: str) -> str:
        one, two = chosen_rows(board, first, second)
        if one is None or two is None:
            return ""
        with self._database.reading() as session:
            found = differences(session, board, one, two, self._store)
            apart = widest(session, one, two, metric)
        column = board.column(metric)
        query = query_of(benchmark=board.benchmark, a=first, b=second, by="" if metric == _USUAL else metric)
        return render(
            "editing_compare.html", board=board, first=one, second=two, differences=found, extent=extent(found),
            apart=apart[:_SHOWN], total=len(apart), metric=column.title if column else metric,
            questions=self._benchmarks.get(board.benchmark).questions, query=query,
        )  # fmt: skip
