"""The examples page: questions found by a filter, and one of them with all its answers."""

from __future__ import annotations

from typing import Any

import gradio as gr

from core.benchmark import Benchmarks
from core.corpus import Corpus
from core.database import Database
from core.errors import NotFound
from core.tracks import QA
from leaderboard.cache import Boards
from leaderboard.examples import FILTERS, example, find
from leaderboard.pages.frame import CHOOSE, QUIET, benchmark_choices, page_number, query_of, view_of
from leaderboard.pages.render import render
from leaderboard.pages.ways import EXAMPLES, elsewhere
from leaderboard.records import Board

_PER_PAGE = 15
_ANY = ""


class ExamplesPage:
    """Callbacks of the page."""

    def __init__(self, database: Database, boards: Boards, benchmarks: Benchmarks) -> None:
        self._database = database
        self._boards = boards
        self._benchmarks = benchmarks

    def add(self, page: gr.Blocks) -> None:
        """Lay out the page and wire it."""
        with gr.Row():
            benchmark = gr.Dropdown(label="Benchmark", choices=[], elem_id="benchmark", min_width=200)
            kind = gr.Dropdown(
                [(each.title, key) for key, each in FILTERS.items()], label="Questions where", elem_id="kind",
                value="", min_width=260,
            )  # fmt: skip
            system = gr.Dropdown(label="… for the system", choices=[], elem_id="system", min_width=200)
            text = gr.Textbox(
                label="Words in the question",
                placeholder="words, then Enter",
                elem_id="text",
                max_lines=1,
                min_width=180,
            )
            number = gr.Number(label="Page", value=1, precision=0, minimum=1, elem_id="page", min_width=80)
        with gr.Row():
            with gr.Column(scale=2, min_width=300):
                listed = gr.HTML(js_on_load=CHOOSE, elem_id="list", apply_default_css=False)
            with gr.Column(scale=5, min_width=340):
                detail = view_of("example")
        filters = [benchmark, kind, system, text]
        everything = [*filters, number, listed, detail]
        page.load(self.load, None, everything, **QUIET)
        benchmark.input(self.switch, benchmark, everything, **QUIET)
        # Not `change`: it also comes when the page is opened, and would lose the question that the URL names.
        gr.on(
            [kind.input, system.input, text.input, text.submit], self.filtered, filters, [number, listed, detail],
            trigger_mode="always_last", **QUIET,
        )  # fmt: skip
        number.input(self.turned, [*filters, number], [listed, detail], trigger_mode="always_last", **QUIET)
        listed.click(self.choose, [*filters, number], [listed, detail], **QUIET)

    def load(self, request: gr.Request) -> list[Any]:
        """Controls, list and question as the URL asks."""
        query = request.query_params
        wanted = query.get("benchmark", "")
        there, benchmark = benchmark_choices(self._database, wanted)
        if wanted != benchmark and (way := elsewhere(self._database, wanted, QA, EXAMPLES)):
            return [gr.update(choices=there), *[gr.update()] * 4, "", way]
        if not benchmark:
            return [gr.update()] * 5 + ["", render("no_benchmark.html")]
        kind = query.get("where", "")
        asked = query.get("question", "")
        found = self._controls(
            benchmark, kind if kind in FILTERS else "", query.get("system", _ANY), query.get("q", ""),
            page_number(query.get("page")), int(asked) if asked.isdecimal() and len(asked) < 10 else None,
        )  # fmt: skip
        return [gr.update(choices=there, value=benchmark), *found]

    def switch(self, benchmark: str) -> list[Any]:
        """Another benchmark, no filter."""
        return [gr.update(value=benchmark), *self._controls(benchmark, "", _ANY, "", 1, None)]

    def filtered(self, benchmark: str, kind: str, system: str, text: str) -> list[Any]:
        """Other questions, from their first page."""
        return [1, *self._shown(benchmark, kind, system, text, 1, None)]

    def turned(self, benchmark: str, kind: str, system: str, text: str, number: Any) -> list[Any]:
        """Another page of the list."""
        return self._shown(benchmark, kind, system, text, page_number(number), None)

    def choose(self, benchmark: str, kind: str, system: str, text: str, number: Any, event: gr.EventData) -> list[Any]:
        """A question of the list was clicked."""
        chosen = str(event._data.get("choose", ""))
        position = int(chosen) if chosen.isdecimal() and len(chosen) < 10 else None
        return self._shown(benchmark, kind, system, text, page_number(number), position)

    def _controls(
        self, benchmark: str, kind: str, system: str, text: str, number: int, position: int | None
    ) -> list[Any]:
        board = self._boards.get(benchmark)
        systems = [("Any system", _ANY), *((r.entry.system, str(r.entry.system_id)) for r in board.rows)]
        system = system if system in [key for _, key in systems] else _ANY
        return [
            gr.update(value=kind),
            gr.update(choices=systems, value=system),
            gr.update(value=text),
            number,
            *self._shown(benchmark, kind, system, text, number, position),
        ]

    def _shown(self, benchmark: str, kind: str, system: str, text: str, number: int, position: int | None) -> list[Any]:
        """The list and the question; without a chosen question, the first of the list."""
        board = self._boards.get(benchmark)
        tables = self._boards.tables(board)
        with self._database.reading() as session:
            page, total = find(
                session, board, tables, kind=kind, system_id=int(system) if system else None, text=text or "",
                start=(number - 1) * _PER_PAGE, count=_PER_PAGE,
            )  # fmt: skip
            if position is None and page:
                position = page[0].position
            detail = self._detail(board, kind, system, text, number, position)
        listed = render(
            "example_list.html", page=page, total=total, number=number, pages=max(-(-total // _PER_PAGE), 1),
            position=position, kind=kind, systems=len(board.rows), single=bool(system),
        )  # fmt: skip
        return [listed, detail]

    def _detail(self, board: Board, kind: str, system: str, text: str, number: int, position: int | None) -> str:
        if position is None:
            return render("empty.html", text="No question to show.")
        try:
            with self._database.reading() as session:
                found = example(session, board, self._corpus(board), self._boards.tables(board), position)
        except NotFound as error:
            return render("empty.html", text=error.message)
        query = query_of(
            benchmark=board.benchmark, where=kind, system=system, q=text, page=number if number > 1 else "",
            question=str(position),
        )  # fmt: skip
        return render(
            "example.html", board=board, example=found, query=query, system=system,
            shown=[c for key in ("em", "autoais", "ais") if (c := board.column(key))],
        )  # fmt: skip

    def _corpus(self, board: Board) -> Corpus | None:
        """The corpus, or None where its file is gone: then the answers are shown without passages."""
        try:
            return self._benchmarks.corpus(self._benchmarks.get(board.benchmark))
        except NotFound:
            return None
