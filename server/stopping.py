"""A web server that stops at Ctrl-C with a word, and at the second one without a traceback."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

STOPPING = "Stopping: requests that are open are finished. Ctrl-C again stops at once."
AT_ONCE = "Stopped at once."
_SECONDS = 10
"""How long open requests may take; a board page in a browser keeps one open for ever."""


class Server(uvicorn.Server):
    """Tells what the first signal and the second one do."""

    def __init__(self, config: uvicorn.Config, say: Callable[[str], None]) -> None:
        super().__init__(config)
        self._say = say

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop; what is cancelled for that is no error."""
        logging.getLogger("uvicorn.error").addFilter(_not_cancelled)
        super().handle_exit(sig, frame)
        self._say(AT_ONCE if self.force_exit else STOPPING)


def run(config: uvicorn.Config, listening: socket.socket, say: Callable[[str], None]) -> bool:
    """Serve on a socket until told to stop; False where it could not start."""
    config.timeout_graceful_shutdown = config.timeout_graceful_shutdown or _SECONDS
    server = Server(config, say)
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        pass  # the signal that stopped it is raised again at its end
    finally:
        logging.getLogger("uvicorn.error").removeFilter(_not_cancelled)
    return server.started


def _not_cancelled(record: logging.LogRecord) -> bool:
    kind = record.exc_info[0] if record.exc_info else None
    cancelled = kind is not None and issubclass(kind, asyncio.CancelledError)
    said = record.getMessage()
    return not (cancelled or said.rstrip().endswith("CancelledError") or said.startswith("Cancel "))
