"""The history page: the board on two dates, and how ranks moved between them."""

from __future__ import annotations

from datetime import date
from typing import Any

import gradio as gr

from core.database import Database
from leaderboard.history import board_on, days, moves
from leaderboard.pages.frame import QUIET, SCRIPT, benchmark_choices, query_of
from leaderboard.pages.render import render


class HistoryPage:
    """Callbacks of the page."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, page: gr.Blocks) -> None:
        """Lay out the page and wire it."""
        with gr.Row():
            benchmark = gr.Dropdown(label="Benchmark", choices=[], elem_id="benchmark", min_width=220)
            before = gr.Dropdown(label="From", info="End of the day, UTC", choices=[], elem_id="before", min_width=160)
            after = gr.Dropdown(label="To", info="End of the day, UTC", choices=[], elem_id="after", min_width=160)
        table = gr.HTML(js_on_load=SCRIPT, elem_id="moves", apply_default_css=False)
        controls = [benchmark, before, after]
        page.load(self.load, None, [*controls, table], **QUIET)
        benchmark.input(self.switch, benchmark, [*controls, table], **QUIET)
        gr.on([before.input, after.input], self.show, controls, table, trigger_mode="always_last", **QUIET)

    def load(self, request: gr.Request) -> list[Any]:
        """Dates and moves as the URL asks."""
        query = request.query_params
        there, benchmark = benchmark_choices(self._database, query.get("benchmark", ""), None)
        if not benchmark:
            return [gr.update()] * 3 + [render("no_benchmark.html")]
        chosen = self._chosen(benchmark, query.get("from", ""), query.get("to", ""))
        return [gr.update(choices=there, value=benchmark), *chosen]

    def switch(self, benchmark: str) -> list[Any]:
        """Another benchmark: its last two dates."""
        return [gr.update(value=benchmark), *self._chosen(benchmark, "", "")]

    def show(self, benchmark: str, before: str | None, after: str | None) -> str:
        """What moved between the ends of two days."""
        if not before or not after:
            return render("empty.html", text="Nothing has been published on this benchmark yet.")
        with self._database.reading() as session:
            then = board_on(session, benchmark, date.fromisoformat(before))
            now = board_on(session, benchmark, date.fromisoformat(after), then.rank_by)
        query = query_of(**{"benchmark": benchmark, "from": before, "to": after})
        return render("history.html", before=then, after=now, moves=moves(then, now), query=query, days=(before, after))

    def _chosen(self, benchmark: str, before: str, after: str) -> list[Any]:
        with self._database.reading() as session:
            there = [day.isoformat() for day in days(session, benchmark)]
        if not there:
            nothing = gr.update(choices=[], value=None)
            return [nothing, nothing, self.show(benchmark, None, None)]
        after = after if after in there else there[0]
        before = before if before in there else there[min(1, len(there) - 1)]
        return [
            gr.update(choices=there, value=before),
            gr.update(choices=there, value=after),
            self.show(benchmark, before, after),
        ]
