"""A way to a server that is slow, or that swallows what it is sent and never answers."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def slow_link(port: int, delay: float) -> Iterator[int]:
    """A port that passes on to another of 127.0.0.1, each piece late by `delay` seconds; by infinity, none arrives."""
    ended = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.1)

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(1 << 16):
                if ended.wait(min(delay, 3_600.0)):
                    break
                sink.sendall(piece)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def serve() -> None:
        while not ended.is_set():
            try:
                near, _ = listener.accept()
            except TimeoutError:
                continue
            far = socket.create_connection(("127.0.0.1", port), timeout=10)
            far.settimeout(None)
            for pair in ((near, far), (far, near)):
                threading.Thread(target=pump, args=pair, daemon=True).start()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        ended.set()
        thread.join(5)
        listener.close()
        time.sleep(0.05)
