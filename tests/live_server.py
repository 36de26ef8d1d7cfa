"""The whole service on a real socket, in a thread, for tests that need one."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import uvicorn
from starlette.applications import Starlette

from server import app
from server.bootstrap import Services


def serving(services: Services) -> AbstractContextManager[str]:
    """Serve the whole service for the time of the block; gives the address."""
    return on_socket(app.create(services))


@contextmanager
def on_socket(application: Starlette) -> Iterator[str]:
    """Serve an application on a free port of 127.0.0.1 for the time of the block; gives the address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(application, host="127.0.0.1", port=port, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    for _ in range(600):
        if server.started or not thread.is_alive():
            break
        time.sleep(0.02)
    assert server.started, "the server did not start"
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive(), "the server did not stop"
