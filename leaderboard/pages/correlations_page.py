"""The correlations page: AIS × EM and AIS × AutoAIS, over systems and over single questions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import gradio as gr

from core.architectures import ARCHITECTURES
from core.database import Database
from core.tracks import QA
from leaderboard.cache import Boards, Kept
from leaderboard.correlate import (
    HUMAN,
    JUDGED,
    InstanceLevel,
    SystemLevel,
    architecture_gaps,
    detectable,
    instance_level,
    instance_systems,
    system_level,
)
from leaderboard.pages.frame import QUIET, SAVE, benchmark_choices, plot, query_of, view_of
from leaderboard.pages.render import render
from leaderboard.pages.ways import CORRELATIONS, elsewhere
from leaderboard.plots import scatter
from leaderboard.records import Board
from scorer.statistics.gaps import Gap
from scorer.statistics.instances import Instances
from scorer.statistics.resamples import ResampleStore

_EM = "em"


class CorrelationsPage:
    """Callbacks of the page."""

    def __init__(self, database: Database, boards: Boards, store: ResampleStore) -> None:
        self._database = database
        self._boards = boards
        self._store = store
        self._levels: Kept[SystemLevel] = Kept(32)
        self._systems: Kept[dict[int, Instances]] = Kept(8)
        self._questions: Kept[InstanceLevel] = Kept(16)
        self._gaps: Kept[tuple[Gap, ...]] = Kept(8)

    def add(self, page: gr.Blocks) -> None:
        """Lay out the page and wire it."""
        with gr.Row():
            benchmark = gr.Dropdown(label="Benchmark", choices=[], elem_id="benchmark", min_width=280)
            without = gr.CheckboxGroup(label="Leave out", info="Architectures not to count", elem_id="without")
        with_autoais = gr.Checkbox(
            label="Count systems that use an AutoAIS model inside (reranked variants) in the AutoAIS fit",
            elem_id="with-autoais",
        )
        summary = view_of("summary")
        with gr.Row():
            shown = []
            for key in (_EM, JUDGED):
                with gr.Column(min_width=320):
                    drawing = gr.Plot(show_label=False, container=False, elem_id=f"plot-{key}")
                    below = gr.HTML(js_on_load=SAVE, elem_id=f"fit-{key}", apply_default_css=False)
                    shown += [drawing, below]
        tables = gr.HTML(js_on_load=None, elem_id="tables", apply_default_css=False)
        outputs = [summary, *shown, tables]
        controls = [benchmark, without, with_autoais]
        page.load(self.load, None, [*controls, *outputs], **QUIET)
        gr.on([c.input for c in controls], self.show, controls, outputs, trigger_mode="always_last", **QUIET)

    def load(self, request: gr.Request) -> list[Any]:
        """Controls and figures as the URL asks."""
        query = request.query_params
        wanted = query.get("benchmark", "")
        there, benchmark = benchmark_choices(self._database, wanted)
        if wanted != benchmark and (way := elsewhere(self._database, wanted, QA, CORRELATIONS)):
            return [gr.update(choices=there), *[gr.update()] * 2, way, *self._nothing(), ""]
        if not benchmark:
            return [gr.update()] * 3 + [render("no_benchmark.html"), *self._nothing(), ""]
        groups = [(g.title, g.architecture) for g in self._boards.get(benchmark).groups]
        without = [key for key in query.get("without", "").split(",") if key in ARCHITECTURES]
        with_autoais = query.get("with_autoais") == "1"
        controls = [
            gr.update(choices=there, value=benchmark),
            gr.update(choices=groups, value=without),
            gr.update(value=with_autoais),
        ]
        return controls + self.show(benchmark, without, with_autoais)

    def show(self, benchmark: str, without: Sequence[str], with_autoais: bool) -> list[Any]:
        """The two fits, what they say in words, and the tables."""
        board = self._boards.get(benchmark)
        query = query_of(benchmark=benchmark, without=",".join(without), with_autoais="1" if with_autoais else "")
        levels = {
            key: self._level(board, key, tuple(sorted(without)), with_autoais or key != JUDGED) for key in (_EM, JUDGED)
        }
        questions = self._on_questions(board, tuple(sorted(without)))
        with self._database.reading() as session:
            gaps = self._gaps.get(_made_from(board), lambda: architecture_gaps(session, board, self._store))
            smallest = {key: detectable(session, board, key) for key in (_EM, JUDGED, HUMAN)}
        drawn: list[Any] = []
        for key, level in levels.items():
            figure = scatter(level, board.synthetic) if level.points else None
            drawn += [plot(figure), render("fit.html", level=level, key=key, titles=ARCHITECTURES, board=board)]
        return [
            render("correlations.html", query=query, board=board, levels=levels),
            *drawn,
            render(
                "correlation_tables.html", board=board, questions=questions, gaps=gaps,
                smallest=smallest, titles=ARCHITECTURES,
                shown=[c for key in smallest if (c := board.column(key))],
            ),
        ]  # fmt: skip

    def _level(self, board: Board, key: str, without: tuple[str, ...], with_autoais: bool) -> SystemLevel:
        """A fit, kept by the rows it came from: with many systems it takes its time."""

        def make() -> SystemLevel:
            with self._database.reading() as session:
                return system_level(session, board, key, self._store, without=without, with_autoais=with_autoais)

        return self._levels.get((*_made_from(board), key, without, with_autoais), make)

    def _on_questions(self, board: Board, without: tuple[str, ...]) -> InstanceLevel:
        """The judge against the raters: each system's once, all together for every choice of systems."""
        made_from = _made_from(board)

        def make() -> InstanceLevel:
            with self._database.reading() as session:
                known = self._systems.get(made_from, lambda: instance_systems(session, board, self._store))
                return instance_level(session, board, self._store, without, known)

        return self._questions.get((*made_from, without), make)

    def _nothing(self) -> list[Any]:
        return [plot(None), "", plot(None), ""]


def _made_from(board: Board) -> tuple[Hashable, ...]:
    """What the page's figures depend on, beside the visitor's choices."""
    return board.benchmark, tuple(row.entry for row in board.rows)
