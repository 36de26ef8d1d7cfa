"""The page of one system: description, every number with its signature, versions, calibration, downloads."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import gradio as gr
from sqlalchemy import String, cast, select

from core.architectures import ARCHITECTURES
from core.database import Database
from core.tables import System
from core.tracks import WORDS
from leaderboard.cache import Boards
from leaderboard.citation import system_bibtex
from leaderboard.pages.frame import QUIET, SAVE, benchmark_choices, plot, query_of, view_of
from leaderboard.pages.render import render
from leaderboard.plots import calibration
from leaderboard.records import Board, Row
from leaderboard.system import SystemView, system_view
from scorer.judges.calibrated.gain import MEASURES
from scorer.statistics.resamples import ResampleStore


class SystemPage:
    """Callbacks of the page."""

    def __init__(self, database: Database, boards: Boards, store: ResampleStore, public_url: str) -> None:
        self._database = database
        self._boards = boards
        self._store = store
        self._public_url = public_url

    def add(self, page: gr.Blocks) -> None:
        """Lay out the page and wire it."""
        with gr.Row():
            benchmark = gr.Dropdown(label="Benchmark", choices=[], elem_id="benchmark", min_width=240)
            system = gr.Dropdown(label="System", choices=[], elem_id="system", min_width=240)
        about = view_of("about")
        drawing = gr.Plot(show_label=False, container=False, elem_id="plot-calibration")
        below = gr.HTML(js_on_load=SAVE, elem_id="below", apply_default_css=False)
        everything = [benchmark, system, about, drawing, below]
        page.load(self.load, None, everything, **QUIET)
        benchmark.input(self.switch, benchmark, everything, **QUIET)
        system.input(self.show, [benchmark, system], [about, drawing, below], **QUIET)

    def load(self, request: gr.Request) -> list[Any]:
        """The system that the URL names, or the first of the benchmark."""
        query = request.query_params
        there, benchmark = benchmark_choices(self._database, query.get("benchmark", ""), None)
        if not benchmark:
            return [gr.update(), gr.update(), render("no_benchmark.html"), plot(None), ""]
        asked = query.get("id", "")
        return [gr.update(choices=there, value=benchmark), *self._chosen(benchmark, asked)]

    def switch(self, benchmark: str) -> list[Any]:
        """Another benchmark: its first system."""
        return [gr.update(value=benchmark), *self._chosen(benchmark, "")]

    def show(self, benchmark: str, system: str) -> list[Any]:
        """The page of a system."""
        board = self._boards.get(benchmark)
        row = next((row for row in board.rows if str(row.entry.system_id) == str(system)), None)
        if row is None:
            return [render("empty.html", text=self._nothing(system)), plot(None), ""]
        with self._database.reading() as session:
            found = system_view(session, board, row, self._store)
        return self._rendered(board, row, found)

    def _nothing(self, system: str) -> str:
        """What is said where no row of the board has the id."""
        if not system:
            return "No system is published on this benchmark yet."
        with self._database.reading() as session:
            there = session.scalar(select(System.id).where(cast(System.id, String) == str(system)))
        return "No system has this id." if there is None else "This system has no published version on this benchmark."

    def _chosen(self, benchmark: str, asked: str) -> list[Any]:
        board = self._boards.get(benchmark)
        systems = [(row.entry.system, str(row.entry.system_id)) for row in board.rows]
        chosen = asked or next((key for _, key in systems), "")
        known = chosen if chosen in [key for _, key in systems] else None
        return [gr.update(choices=systems, value=known), *self.show(benchmark, chosen)]

    def _rendered(self, board: Board, row: Row, found: SystemView) -> list[Any]:
        query = query_of(benchmark=board.benchmark, id=row.entry.system_id)
        url = f"{self._public_url}/leaderboard/system?" + urlencode(
            {"benchmark": board.benchmark, "id": row.entry.system_id}
        )
        column = board.column("autoais")
        judge = column.title if column else "AutoAIS"
        about = render(
            "system.html", board=board, row=row, found=found, query=query, titles=ARCHITECTURES, judge=judge,
            words=WORDS[board.track], names={each.metric: each.title for each in reversed(board.columns)},
        )  # fmt: skip
        figure = calibration(found.calibration, judge, board.synthetic) if found.calibration.bins else None
        below = render(
            "system_below.html", board=board, row=row, found=found, bibtex=system_bibtex(board, row.entry, url),
            measures=MEASURES,
        )  # fmt: skip
        return [about, plot(figure), below]
