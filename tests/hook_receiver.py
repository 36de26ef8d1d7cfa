"""A small web server that takes webhooks down and answers as told."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Receiver:
    """What came, and what is answered: the statuses in turn, the last one for ever."""

    url: str = ""
    answers: list[int] = field(default_factory=lambda: [200])
    location: str = ""
    """Where a redirect leads."""
    got: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    """(path, headers, body)."""

    def answer(self) -> int:
        """The next status."""
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Serve on a free port of this machine for the time of the block."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            self.send_response(receiver.answer())
            if receiver.location:
                self.send_header("Location", receiver.location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self) -> None:
            receiver.got.append((self.path, {}, b"GET"))
            self.send_error(418)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
