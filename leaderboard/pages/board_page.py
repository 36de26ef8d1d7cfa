"""The board page: controls in, table out; the view in between is the URL's query."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr

from core.architectures import ARCHITECTURES
from core.database import Database
from core.tracks import EDITING, QA, TRACKS, WORDS
from leaderboard.arrange import simplest, visible_columns
from leaderboard.cache import Boards
from leaderboard.pages.board_html import board_html, sort_of
from leaderboard.pages.frame import KEPT, QUIET, benchmark_choices, view_of
from leaderboard.pages.render import render
from leaderboard.pages.ways import elsewhere
from leaderboard.records import Board
from leaderboard.view import NO_SIZE, REFERENCES, SIZES, View
from leaderboard.waiting import waiting

_SIZES = [("Any", ""), *((title, key) for key, (title, _, _) in SIZES.items()), ("Not said", NO_SIZE)]
PATHS = {QA: "/leaderboard/", EDITING: "/leaderboard/editing"}
"""Where each track has its board."""
_DIRECTIONS = [("Highest first", False), ("Lowest first", True)]
_RANKED_BY = {QA: "AIS, else AutoAIS", EDITING: "F1 AP, else F1 AP auto"}
_HEADINGS = (Path(__file__).parent / "assets" / "board.js").read_text(encoding="utf-8")
_KEY = re.compile(r"[\w:.@+-]{1,80}")


class BoardPage:
    """Callbacks of the page; all of them are functions of the controls and the database."""

    def __init__(
        self,
        database: Database,
        boards: Boards,
        public_url: str,
        track: str = QA,
        usual_numbers: Callable[[Board], str] = lambda board: "",
    ) -> None:
        self._track = track
        self._usual_numbers = usual_numbers
        self._width = _COUNT + (track == EDITING)
        self._database = database
        self._boards = boards
        self._public_url = public_url

    def add(self, page: gr.Blocks, numbers: gr.Radio | None = None) -> gr.Dropdown:
        """Lay out the controls and wire them; returns the one that chooses the benchmark.

        `numbers`, of the editing track's page, stands elsewhere on it, and in the address with the others.
        """
        gr.HTML(render("tracks.html", tracks=TRACKS, here=self._track, paths=PATHS), js_on_load=None,
                apply_default_css=False, elem_id="tracks")  # fmt: skip
        with gr.Row():
            benchmark = gr.Dropdown(label="Benchmark", choices=[], elem_id="benchmark", min_width=280)
            search = gr.Textbox(
                label="Search",
                placeholder="name, team:NAME, arch:retrieve",
                elem_id="search",
                max_lines=1,
                min_width=280,
            )
        with gr.Accordion("Filters, columns and sorting", open=False, elem_id="filters"):
            with gr.Row():
                sort = gr.Dropdown(label="Sort by", elem_id="sort")
                ascending = gr.Radio(_DIRECTIONS, label="Order", value=False, elem_id="order")
                rank_by = gr.Dropdown(label="Rank by", elem_id="rank-by", info="Which column the ranks are of")
            columns = gr.CheckboxGroup(label="Columns", elem_id="columns")
            architectures = gr.CheckboxGroup(label="Architectures", info="None chosen: all", elem_id="architectures")
            with gr.Row():
                supervision = gr.Dropdown(label="Supervision", elem_id="supervision", info="What it learned from")
                size = gr.Dropdown(_SIZES, label="Size", elem_id="size", info="Parameters over all its models")
                references = gr.Dropdown(
                    [(title, key) for key, title in REFERENCES.items()],
                    label="Reference systems",
                    elem_id="references",
                    info="Those that the service runs itself",
                )
                flat = gr.Checkbox(label="One list, not grouped by architecture", elem_id="flat")
        table = view_of("board", _HEADINGS)
        below = gr.HTML(elem_id="waiting", apply_default_css=False)
        controls = [
            benchmark, search, sort, ascending, columns, architectures, supervision, references, rank_by, flat, size
        ] + ([] if numbers is None else [numbers])  # fmt: skip
        page.load(self.load, None, [*controls, table], **QUIET)
        page.load(self.load_waiting, None, below, **QUIET)
        benchmark.input(self.switch, benchmark, [*controls, table], **QUIET)
        benchmark.input(self.waiting, benchmark, below, **QUIET)
        table.click(self.heading, None, [sort, ascending, table], trigger_mode="always_last", **QUIET)
        gr.on(
            # A text box tells of keys as `input`, of all else (pasted, deleted) as `change` only.
            [search.change, *(control.input for control in controls[2:])],
            self.table, controls, table, trigger_mode="always_last", **QUIET,
        )  # fmt: skip
        return benchmark

    def load(self, request: gr.Request) -> list[Any]:
        """Controls and table as the URL asks."""
        return self._shown(View.from_query(dict(request.query_params)))

    def switch(self, benchmark: str) -> list[Any]:
        """Another benchmark: its own columns, no filters."""
        return self._shown(View(benchmark=benchmark))

    def load_waiting(self, request: gr.Request) -> str:
        """What has not run on the benchmark that the URL asks for."""
        asked = View.from_query(dict(request.query_params)).benchmark
        return self.waiting(benchmark_choices(self._database, asked, self._track)[1])

    def waiting(self, benchmark: str) -> str:
        """The reference systems that have not run on a benchmark."""
        if not benchmark:
            return ""
        with self._database.reading() as session:
            return render(
                "waiting.html", systems=waiting(session, benchmark), benchmark=benchmark, architectures=ARCHITECTURES
            )

    def table(self, *values: Any) -> str:
        """The table for the controls as they stand."""
        view = _view(values)
        board = self._boards.get(view.benchmark, view.rank_by)
        if view.numbers == self._usual_numbers(board):
            view = replace(view, numbers="")
        return self._html(board, simplest(board, view))

    def heading(self, event: gr.EventData) -> tuple[Any, Any, Any]:
        """The controls after a click on a heading; the browser has sorted the rows that it shows."""
        sort, ascending = str(event._data.get("sort", "")), bool(event._data.get("ascending"))
        if not _KEY.fullmatch(sort):
            return gr.skip(), gr.skip(), gr.skip()
        return sort, ascending, KEPT.format(f"{sort} {ascending:d}")

    def _html(self, board: Board, view: View) -> str:
        return board_html(board, view, self._public_url)

    def _shown(self, view: View) -> list[Any]:
        if self._track != EDITING:
            view = replace(view, numbers="")
        there, benchmark = benchmark_choices(self._database, view.benchmark, self._track)
        asked = view.benchmark
        if asked != benchmark and (way := elsewhere(self._database, asked, self._track, PATHS)):
            return [gr.update(choices=there), *[gr.update()] * (self._width - 1), way]
        if not benchmark:
            return [gr.update()] * self._width + [render("no_benchmark.html")]
        view = replace(view, benchmark=benchmark) if view.benchmark in ("", benchmark) else View(benchmark=benchmark)
        board = self._boards.get(view.benchmark)
        if view.rank_by and board.column(view.rank_by):
            board = self._boards.get(view.benchmark, view.rank_by)
        else:
            view = replace(view, rank_by="")
        numbers = [view.numbers or self._usual_numbers(board)] if self._track == EDITING else []
        return [*_controls(board, view, there), *numbers, self._html(board, view)]


_COUNT = 11
"""Controls of `_controls` and `_view`; the editing track has one more."""


def _controls(board: Board, view: View, there: list[tuple[str, str]]) -> list[Any]:
    titles = [(column.title, column.key) for column in board.columns]
    sort, ascending = sort_of(board, view)
    words = WORDS[board.track]
    own = [("Name", "system"), (f"Share of {words.item}s {words.done}", "coverage"), ("Size", "size")]
    supervisions = sorted({row.entry.supervision for row in board.rows} - {""})
    present = {group.architecture for group in board.groups}
    return [
        gr.update(choices=there, value=view.benchmark),
        gr.update(value=view.q),
        gr.update(choices=[*own, *titles], value=sort),
        gr.update(value=ascending),
        gr.update(choices=titles, value=[column.key for column in visible_columns(board, view)]),
        gr.update(choices=[(title, key) for key, title in ARCHITECTURES.items() if key in present],
                  value=list(view.architectures)),
        gr.update(choices=[("Any", ""), *((text, text) for text in supervisions)], value=view.supervision),
        gr.update(value=view.references),
        gr.update(choices=[(_RANKED_BY[board.track], ""), *titles], value=view.rank_by),
        gr.update(value=view.flat),
        gr.update(value=view.size),
    ]  # fmt: skip


def _view(values: tuple[Any, ...]) -> View:
    """The view that the controls describe, in their order."""
    benchmark, search, sort, ascending, columns, architectures, supervision, references, rank_by, flat, size, *more = (
        values
    )
    return View(
        benchmark or "", search or "", sort or "", bool(ascending), tuple(columns or ()), tuple(architectures or ()),
        supervision or "", references or "", rank_by or "", bool(flat), size or "", *(each or "" for each in more),
    )  # fmt: skip
