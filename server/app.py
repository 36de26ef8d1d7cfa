"""The one ASGI process: Flask at `/` and `/api/v1`, Gradio at `/leaderboard/`, and the embedded worker."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec

from a2wsgi import WSGIMiddleware
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Mount, Route

from server import web
from server.bootstrap import Services
from server.uploads import UploadLimit
from server.worker import Worker

BOARD = "/leaderboard"
_STOP_SECONDS = 10.0


def create(services: Services) -> Starlette:
    """The application; its lifespan starts and stops the embedded worker."""
    app = Starlette(lifespan=lambda _app: _worker(services))
    app.router.routes.append(Route(BOARD, _to_board))
    if find_spec("leaderboard.app") is not None:
        _mount_board(app, services)
    app.router.routes.append(Mount("/", WSGIMiddleware(web.create(services))))
    app.add_middleware(UploadLimit, limit=web.upload_limit(services))
    return app


def _mount_board(app: Starlette, services: Services) -> None:
    import os

    # Before gradio is imported: it would ask outside hosts for its newest version.
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    import gradio
    from leaderboard.app import build

    blocks = build(services.database, services.settings)
    gradio.mount_gradio_app(app, blocks, path=BOARD, footer_links=[], run_history=False, show_error=False)


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
        # A job that takes longer is given up here; its lease ends and another worker does it.
        thread.join(_STOP_SECONDS)
