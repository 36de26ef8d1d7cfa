"""Passages of the editing track: found by a filter, and one of them with every system's revision and its steps."""

from __future__ import annotations

from typing import Any

import gradio as gr

from core.benchmark import Benchmark, Benchmarks
from core.database import Database
from core.errors import InvalidInput, NotFound
from core.ports import Blobs
from core.tracks import EDITING
from leaderboard.cache import Boards, Kept, evaluations_of
from leaderboard.editing_examples import KINDS, changes, listed, passage
from leaderboard.editing_traces import Traces
from leaderboard.pages.frame import CHOOSE, QUIET, benchmark_choices, page_number, query_of, view_of
from leaderboard.pages.render import render
from leaderboard.pages.ways import EXAMPLES, elsewhere
from leaderboard.records import Board

_PER_PAGE = 15


class EditingPassagesPage:
    """Callbacks of the page."""

    def __init__(self, database: Database, boards: Boards, benchmarks: Benchmarks, blobs: Blobs) -> None:
        self._database = database
        self._boards = boards
        self._benchmarks = benchmarks
        self._traces = Traces(blobs)
        self._changed: Kept[dict[int, int]] = Kept(12)

    def add(self, page: gr.Blocks) -> None:
        """Lay out the page and wire it."""
        gr.HTML(render("editing_ways.html", here="editing-passages"), js_on_load=None, apply_default_css=False)
        with gr.Row():
            benchmark = gr.Dropdown(label="Benchmark", choices=[], elem_id="benchmark", min_width=200)
            kind = gr.Dropdown(
                [(title, key) for key, title in KINDS.items()], label="Passages", elem_id="kind", value="",
                min_width=220,
            )  # fmt: skip
            sort = gr.Dropdown(label="Of the type", choices=[("Any", "")], value="", elem_id="type", min_width=150)
            text = gr.Textbox(
                label="Words in it", placeholder="words, then Enter", elem_id="text", max_lines=1, min_width=180
            )
            number = gr.Number(label="Page", value=1, precision=0, minimum=1, elem_id="page", min_width=80)
        with gr.Row():
            with gr.Column(scale=2, min_width=280):
                shown = gr.HTML(js_on_load=CHOOSE, elem_id="list", apply_default_css=False)
            with gr.Column(scale=5, min_width=340):
                detail = view_of("passage")
        filters = [benchmark, kind, sort, text]
        everything = [*filters, number, shown, detail]
        page.load(self.load, None, everything, **QUIET)
        benchmark.input(self.switch, benchmark, everything, **QUIET)
        gr.on(
            [kind.input, sort.input, text.input, text.submit], self.filtered, filters, [number, shown, detail],
            trigger_mode="always_last", **QUIET,
        )  # fmt: skip
        number.input(self.turned, [*filters, number], [shown, detail], trigger_mode="always_last", **QUIET)
        shown.click(self.choose, [*filters, number], [shown, detail], **QUIET)

    def load(self, request: gr.Request) -> list[Any]:
        """Controls, list and passage as the URL asks."""
        query = request.query_params
        wanted = query.get("benchmark", "")
        there, benchmark = benchmark_choices(self._database, wanted, EDITING)
        if wanted != benchmark and (way := elsewhere(self._database, wanted, EDITING, EXAMPLES)):
            return [gr.update(choices=there), *[gr.update()] * 4, "", way]
        if not benchmark:
            return [gr.update()] * 5 + ["", render("editing_no_benchmark.html")]
        kind, asked = query.get("where", ""), query.get("passage", "")
        position = int(asked) if asked.isdecimal() and len(asked) < 10 else None
        shown = self._controls(
            benchmark, kind if kind in KINDS else "", query.get("type", ""), query.get("q", ""),
            page_number(query.get("page")), position,
        )  # fmt: skip
        return [gr.update(choices=there, value=benchmark), *shown]

    def switch(self, benchmark: str) -> list[Any]:
        """Another benchmark, no filter."""
        return [gr.update(value=benchmark), *self._controls(benchmark, "", "", "", 1, None)]

    def filtered(self, benchmark: str, kind: str, sort: str, text: str) -> list[Any]:
        """Another filter: its first page and first passage."""
        return [1, *self._shown(benchmark, kind, sort, text, 1, None)]

    def turned(self, benchmark: str, kind: str, sort: str, text: str, number: Any) -> list[Any]:
        """Another page of the list, and its first passage."""
        return self._shown(benchmark, kind, sort, text, page_number(number), None)

    def choose(
        self, benchmark: str, kind: str, sort: str, text: str, number: Any, event: gr.EventData
    ) -> list[Any]:  # fmt: skip
        """A passage of the list was clicked."""
        chosen = str(event._data.get("choose", ""))
        position = int(chosen) if chosen.isdecimal() else None
        return self._shown(benchmark, kind, sort, text, page_number(number), position)

    def _controls(
        self, benchmark: str, kind: str, sort: str, text: str, number: int, position: int | None
    ) -> list[Any]:  # fmt: skip
        sorts = sorted({question.type for question in self._benchmarks.get(benchmark).questions if question.type})
        sort = sort if sort in sorts else ""
        return [
            gr.update(value=kind),
            gr.update(choices=[("Any", ""), *((each, each) for each in sorts)], value=sort),
            gr.update(value=text),
            number,
            *self._shown(benchmark, kind, sort, text, number, position),
        ]

    def _shown(
        self, benchmark: str, kind: str, sort: str, text: str, number: int, position: int | None
    ) -> list[Any]:  # fmt: skip
        """The list and the passage; without a chosen one, the first of the list."""
        board, held = self._boards.get(benchmark), self._benchmarks.get(benchmark)
        found = listed(held, self._changes(board, held), kind=kind, text=text or "", type_=sort or "")
        page = found[(number - 1) * _PER_PAGE : number * _PER_PAGE]
        if position is None and page:
            position = page[0].position
        query = query_of(
            benchmark=benchmark, where=kind, type=sort, q=text, page=number if number > 1 else "",
            passage="" if position is None else str(position),
        )  # fmt: skip
        shown = render(
            "editing_list.html", page=page, total=len(found), number=number,
            pages=max(-(-len(found) // _PER_PAGE), 1), position=position, systems=len(board.rows),
        )  # fmt: skip
        return [shown, self._detail(board, position, query)]

    def _changes(self, board: Board, benchmark: Benchmark) -> dict[int, int]:
        def read() -> dict[int, int]:
            with self._database.reading() as session:
                return changes(session, board, benchmark)

        return self._changed.get((board.benchmark, evaluations_of(board)), read)

    def _detail(self, board: Board, position: int | None, query: str) -> str:
        if position is None:
            return render("empty.html", text="No passage to show.")
        held = self._benchmarks.get(board.benchmark)
        try:
            with self._database.reading() as session:
                steps = self._traces.of(session, [row.entry.submission for row in board.rows], position)
            found = passage(self._database, board, held, position, steps)
        except (NotFound, InvalidInput) as error:
            return render("empty.html", text=error.message)
        return render("editing_passage.html", board=board, found=found, query=query)
