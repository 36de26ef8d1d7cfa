"""The leaderboard's Gradio application, mounted by the server at /leaderboard/."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

# Read by gradio at import: without it, gradio looks outside hosts up.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

import gradio as gr

from core.benchmark import Benchmarks
from core.blobs import open_blobs
from core.database import Database
from core.settings import Settings
from leaderboard.cache import Boards
from leaderboard.pages import SITE
from leaderboard.pages.board_page import BoardPage
from leaderboard.pages.compare_page import ComparePage
from leaderboard.pages.correlations_page import CorrelationsPage
from leaderboard.pages.editing_board_page import EditingBoardPage
from leaderboard.pages.editing_compare_page import EditingComparePage
from leaderboard.pages.editing_passages_page import EditingPassagesPage
from leaderboard.pages.examples_page import ExamplesPage
from leaderboard.pages.frame import heading
from leaderboard.pages.history_page import HistoryPage
from leaderboard.pages.system_page import SystemPage
from leaderboard.pages.theme import THEME
from scorer.statistics.resamples import ResampleStore

_ASSETS = Path(__file__).parent / "pages" / "assets"
CSS = (_ASSETS / "leaderboard.css").read_text(encoding="utf-8")
"""The board's own rules; the colours and letters are the product's, which the server links on every page."""
MOUNT: dict[str, Any] = {"theme": THEME, "css": CSS, "footer_links": [], "run_history": False, "ssr_mode": False}
"""Arguments for `gradio.mount_gradio_app` beside app, blocks and path."""


def build(database: Database, settings: Settings) -> gr.Blocks:
    """The application over a database; reads it only when a page is asked for."""
    boards, store = Boards(database), ResampleStore()
    with gr.Blocks(title=SITE, analytics_enabled=False, fill_width=True) as app:
        heading("Leaderboard", "")
        BoardPage(database, boards, settings.resolved_public_url).add(app)
    with app.route("Correlations", "/correlations", show_in_navbar=False):
        heading("Correlations", "correlations")
        CorrelationsPage(database, boards, store).add(app)
    with app.route("Compare", "/compare", show_in_navbar=False):
        heading("Compare two systems", "compare")
        ComparePage(database, boards, store).add(app)
    with app.route("Examples", "/examples", show_in_navbar=False):
        heading("Examples", "examples")
        ExamplesPage(database, boards, Benchmarks(database, settings.data_path)).add(app)
    with app.route("System", "/system", show_in_navbar=False):
        heading("System", "system")
        SystemPage(database, boards, store, settings.resolved_public_url).add(app)
    blobs = open_blobs(settings.blobs, settings.data_path / "blobs", settings.s3_endpoint)
    benchmarks = Benchmarks(database, settings.data_path)
    with app.route("Editing", "/editing", show_in_navbar=False):
        heading("Editing for attribution", "editing")
        EditingBoardPage(database, boards, store, settings.resolved_public_url).add(app)
    with app.route("Compare edits", "/editing-compare", show_in_navbar=False):
        heading("Compare two editing systems", "editing-compare")
        EditingComparePage(database, boards, store, benchmarks).add(app)
    with app.route("Passages", "/editing-passages", show_in_navbar=False):
        heading("Edited passages", "editing-passages")
        EditingPassagesPage(database, boards, benchmarks, blobs).add(app)
    with app.route("History", "/history", show_in_navbar=False):
        heading("How ranks moved", "history")
        HistoryPage(database).add(app)
    return app
