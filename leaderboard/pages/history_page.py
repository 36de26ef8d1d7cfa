"""The history page: the board at two moments, and how ranks moved between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from core.database import Database
from leaderboard.history import moves
from leaderboard.pages.frame import QUIET, benchmark_choices, query_of, view_of
from leaderboard.pages.render import render
from leaderboard.past import Moment, board_at, moments

_INFO = "Stored when it was taken, or rebuilt for the end of a day (UTC)"


class HistoryPage:
    """Callbacks of the page."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, page: gr.Blocks) -> None:
        """Lay out the page and wire it."""
        with gr.Row():
            benchmark = gr.Dropdown(label="Benchmark", choices=[], elem_id="benchmark", min_width=220)
            before = gr.Dropdown(label="From", info=_INFO, choices=[], elem_id="before", min_width=220)
            after = gr.Dropdown(label="To", info=_INFO, choices=[], elem_id="after", min_width=220)
        table = view_of("moves")
        controls = [benchmark, before, after]
        page.load(self.load, None, [*controls, table], **QUIET)
        benchmark.input(self.switch, benchmark, [*controls, table], **QUIET)
        gr.on([before.input, after.input], self.show, controls, table, trigger_mode="always_last", **QUIET)

    def load(self, request: gr.Request) -> list[Any]:
        """Moments and moves as the URL asks."""
        query = request.query_params
        there, benchmark = benchmark_choices(self._database, query.get("benchmark", ""), None)
        if not benchmark:
            return [gr.update()] * 3 + [render("no_benchmark.html")]
        chosen = self._chosen(benchmark, query.get("from", ""), query.get("to", ""))
        return [gr.update(choices=there, value=benchmark), *chosen]

    def switch(self, benchmark: str) -> list[Any]:
        """Another benchmark: its last two moments."""
        return [gr.update(value=benchmark), *self._chosen(benchmark, "", "")]

    def show(self, benchmark: str, before: str | None, after: str | None) -> str:
        """What moved between two moments."""
        with self._database.reading() as session:
            there = moments(session, benchmark)
        return self._shown(benchmark, there, before or "", after or "")

    def _chosen(self, benchmark: str, before: str, after: str) -> list[Any]:
        with self._database.reading() as session:
            there = moments(session, benchmark)
        if not there:
            nothing = gr.update(choices=[], value=None)
            return [nothing, nothing, self._shown(benchmark, there, "", "")]
        keys = [each.key for each in there]
        after = after if after in keys else keys[0]
        before = before if before in keys else keys[min(1, len(keys) - 1)]
        choices = [(each.label, each.key) for each in there]
        return [
            gr.update(choices=choices, value=before),
            gr.update(choices=choices, value=after),
            self._shown(benchmark, there, before, after),
        ]

    def _shown(self, benchmark: str, there: Sequence[Moment], before: str, after: str) -> str:
        by_key = {each.key: each for each in there}
        if before not in by_key or after not in by_key:
            return render("empty.html", text="Nothing has been published on this benchmark yet.")
        first, last = by_key[before], by_key[after]
        with self._database.reading() as session:
            then = board_at(session, benchmark, first)
            now = board_at(session, benchmark, last, then.rank_by)
        return render(
            "history.html", before=then, after=now, first=first, last=last, only=len(there) == 1,
            moves=moves(then, now), stored=[each for each in there if each.stored],
            query=query_of(**{"benchmark": benchmark, "from": before, "to": after}),
        )  # fmt: skip
