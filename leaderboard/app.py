"""The leaderboard's Gradio application, mounted by the server at /leaderboard/."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

# Read by gradio at import: without it, gradio looks outside hosts up.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

import gradio as gr

from core.database import Database
from core.settings import Settings
from leaderboard.cache import Boards
from leaderboard.pages.board_page import BoardPage
from leaderboard.pages.render import render
from leaderboard.pages.theme import THEME

_ASSETS = Path(__file__).parent / "pages" / "assets"
CSS = "\n".join((_ASSETS / name).read_text(encoding="utf-8") for name in ("tokens.css", "leaderboard.css"))
MOUNT: dict[str, Any] = {"theme": THEME, "css": CSS, "footer_links": [], "run_history": False, "ssr_mode": False}
"""Arguments for `gradio.mount_gradio_app` beside app, blocks and path."""


def build(database: Database, settings: Settings) -> gr.Blocks:
    """The application over a database; reads it only when a page is asked for."""
    boards = Boards(database)
    with gr.Blocks(title="AQA Leaderboard", analytics_enabled=False, fill_width=True) as app:
        _frame("Leaderboard", "")
        BoardPage(database, boards).add(app)
    return app


def _frame(title: str, here: str) -> None:
    """What every page begins with: the name, the ways to the other pages, and one line of help."""
    gr.Navbar(visible=False)
    gr.HTML(render("header.html", title=title, here=here), js_on_load=None, apply_default_css=False, elem_id="header")
