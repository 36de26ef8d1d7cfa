"""The one ASGI process: Flask at `/` and `/api/v1`, Gradio at `/leaderboard/`, and the embedded worker."""

from __future__ import annotations

import threading
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Mount, Route

from server import web
from server.board_frame import BoardFrame
from server.board_lane import BoardLane
from server.board_limits import BoardLimits
from server.board_paths import BoardPaths
from server.bootstrap import Services
from server.headers import BoardHeaders
from server.lingering import Lingering
from server.worker import Worker
from server.wsgi import Wsgi

BOARD = "/leaderboard"
_STOP_SECONDS = 10.0


def create(services: Services) -> Starlette:
    """The application; its lifespan starts and stops the embedded worker."""
    app = Starlette(lifespan=lambda _app: _worker(services))
    app.router.routes.append(Route(BOARD, _to_board))
    _mount_board(app, services)
    pages = web.create(services)
    app.router.routes.append(Mount("/", Wsgi(pages)))
    app.add_middleware(BoardFrame, web=pages, path=BOARD)
    app.add_middleware(BoardPaths, path=BOARD)
    app.add_middleware(BoardLimits, path=BOARD, settings=services.settings)
    app.add_middleware(BoardHeaders, path=BOARD)
    app.add_middleware(Lingering)
    app.add_middleware(BoardLane, web=pages, services=services)
    return app


def _mount_board(app: Starlette, services: Services) -> None:
    from leaderboard.app import MOUNT, build  # first: it tells gradio not to look outside hosts up

    import gradio  # isort: skip

    blocks = build(services.database, services.settings)
    # The board takes no files: what reaches gradio's own upload route all the same gets next to no room.
    with warnings.catch_warnings():
        # Gradio warns that an app of several pages is not rendered on the server; that is what MOUNT asks for.
        warnings.filterwarnings("ignore", message="SSR mode")
        gradio.mount_gradio_app(app, blocks, path=BOARD, show_error=False, max_file_size="1kb", **MOUNT)


async def _to_board(request: Request) -> RedirectResponse:
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{BOARD}/{query}")


@asynccontextmanager
async def _worker(services: Services) -> AsyncIterator[None]:
    if not services.settings.embedded_worker:
        yield
        return
    worker = Worker(services)
    thread = threading.Thread(target=worker.run, name="worker", daemon=True)
    thread.start()
    try:
        yield
    finally:
        worker.stop()
        thread.join(min(_STOP_SECONDS, services.settings.grace_seconds))
        worker.give_back()
