"""The board of the editing track, attribution over preservation, and how far the automatic numbers can be trusted."""

from __future__ import annotations

from typing import Any

import gradio as gr

from core.architectures import ARCHITECTURES
from core.database import Database
from core.tracks import EDITING
from leaderboard.cache import Boards
from leaderboard.editing_correlate import PAIRS, over_passages, over_systems
from leaderboard.editing_plots import AUTO, AXES, HUMAN, marks, trade_off
from leaderboard.pages.board_page import BoardPage
from leaderboard.pages.frame import QUIET, SAVE, benchmark_choices, plot
from leaderboard.pages.render import render
from leaderboard.plots import scatter
from leaderboard.records import Board
from scorer.statistics.resamples import ResampleStore

_HUMAN_NAMES = {"attribution": "Attr AIS", "preservation": "Pres intent"}


def usual_numbers(board: Board) -> str:
    """By which numbers a board is drawn where nobody asks for the others: people's, where they have rated."""
    return HUMAN if marks(board, AXES[HUMAN]) else AUTO


class EditingBoardPage:
    """Callbacks of the page; the table above is the board page's own."""

    def __init__(self, database: Database, boards: Boards, store: ResampleStore, public_url: str) -> None:
        self._database = database
        self._boards = boards
        self._store = store
        self._table = BoardPage(database, boards, public_url, EDITING, usual_numbers)

    def add(self, page: gr.Blocks) -> None:
        """Lay out the page and wire it."""
        gr.HTML(render("editing_ways.html", here="editing"), js_on_load=None, apply_default_css=False)
        which = gr.Radio(
            [(axes.title, key) for key, axes in AXES.items()], value=AUTO, label="Numbers", elem_id="which",
            info="By the judge and the edit distance, or by people", render=False,
        )  # fmt: skip
        benchmark = self._table.add(page, which)
        above = gr.HTML(js_on_load=None, elem_id="trade-off", apply_default_css=False)
        which.render()
        drawing = gr.Plot(show_label=False, container=False, elem_id="plot-trade-off")
        below = gr.HTML(js_on_load=SAVE, elem_id="trade-off-below", apply_default_css=False)
        heading = gr.HTML(js_on_load=None, elem_id="kinship", apply_default_css=False)
        with gr.Row():
            fits = []
            for key in PAIRS:
                with gr.Column(min_width=320):
                    fits += [
                        gr.Plot(show_label=False, container=False, elem_id=f"plot-{key}"),
                        gr.HTML(js_on_load=SAVE, elem_id=f"fit-{key}", apply_default_css=False),
                    ]
        outputs = [above, which, drawing, below, heading, *fits]
        page.load(self.load, None, outputs, **QUIET)
        benchmark.input(self.show, benchmark, outputs, **QUIET)
        which.input(self.draw, [benchmark, which], [drawing, below], **QUIET)

    def load(self, request: gr.Request) -> list[Any]:
        """The drawings of the benchmark that the URL names."""
        asked = request.query_params
        named = asked.get("benchmark", "")
        _, benchmark = benchmark_choices(self._database, named, EDITING)
        return self.show(benchmark, asked.get("numbers", "") if named in ("", benchmark) else "")

    def show(self, benchmark: str, numbers: str = "") -> list[Any]:
        """All drawings of a benchmark; by people where they have rated, unless something else is asked for."""
        if not benchmark:
            return ["", gr.update(visible=False), plot(None), "", "", *[plot(None), ""] * len(PAIRS)]
        board = self._boards.get(benchmark)
        chosen = numbers if numbers in AXES else usual_numbers(board)
        drawn = self.draw(benchmark, chosen)
        return [
            render("editing_trade_off.html", board=board),
            gr.update(value=chosen, visible=bool(board.rows)),
            *drawn,
            render("editing_kinship.html", board=board),
            *self._kinship(board),
        ]

    def draw(self, benchmark: str, numbers: str) -> list[Any]:
        """Attribution over preservation by the chosen numbers."""
        board, axes = self._boards.get(benchmark), AXES[numbers]
        found = marks(board, axes)
        figure = trade_off(found, axes, board.synthetic) if found else None
        return [
            plot(figure),
            render("editing_trade_off_below.html", board=board, marks=found, axes=axes, numbers=numbers),
        ]

    def _kinship(self, board: Board) -> list[Any]:
        shown: list[Any] = []
        for key, pair in PAIRS.items():
            with self._database.reading() as session:
                level = over_systems(session, board, pair, self._store)
                passages = over_passages(session, board, pair, self._store)
            figure = scatter(level, board.synthetic, _HUMAN_NAMES[key]) if level.points else None
            shown += [
                plot(figure),
                render(
                    "editing_fit.html", board=board, level=level, passages=passages, pair=pair, key=key,
                    human=_HUMAN_NAMES[key], titles=ARCHITECTURES,
                ),
            ]  # fmt: skip
        return shown
