"""A web server of files that knows ranges, can cut connections, and answers as the Hub does for one dataset."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DATASET = "google-research-datasets/nq_open"
REVISION = "5" * 40


@dataclass
class Files:
    """What is served and how; `requests` tells what was asked."""

    files: dict[str, bytes] = field(default_factory=dict)
    cut_after: int | None = None
    """Close the connection after so many bytes of a .zip file, as long as `cuts` is above 0."""
    cuts: int = 0
    ranges: bool = True
    tags: bool = True
    md5: dict[str, bytes] = field(default_factory=dict)
    """Path → content whose md5 the server names instead of the true one."""
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    """(method, path, Range header)."""
    url: str = ""

    def hub(self, path: str) -> bytes | None:
        """The Hub's JSON for a path, if it is one of the Hub's."""
        api = f"/api/datasets/{DATASET}"
        names = [name for name in self.files if name.startswith("nq_open/")]
        if path in (api, f"{api}/revision/{REVISION}"):
            return json.dumps({"id": DATASET, "sha": REVISION, "siblings": [{"rfilename": n} for n in names]}).encode()
        if path.startswith(f"{api}/tree/{REVISION}"):
            return json.dumps(
                [{"type": "file", "path": n, "oid": "0" * 40, "size": len(self.files[n])} for n in names]
            ).encode()
        return None


@contextmanager
def serving(files: Files) -> Iterator[Files]:
    """Serve on a free port of this machine for the time of the block."""

    class Handler(_Handler):
        served = files

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    files.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield files
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


class _Handler(BaseHTTPRequestHandler):
    served: Files

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, with_body: bool) -> None:
        path, wanted = self.path.partition("?")[0], self.headers.get("Range", "")
        self.served.requests.append((self.command, path, wanted))
        name = path.removeprefix(f"/datasets/{DATASET}/resolve/{REVISION}/").lstrip("/")
        data = self.served.files.get(name)
        hub = self.served.hub(path) if data is None else None
        if data is None and hub is None:
            self.send_error(404)
            return
        body = hub if data is None else data
        assert body is not None
        tag = hashlib.sha256(body).hexdigest()
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.served.ranges else 0
        if start and self.headers.get("If-Range", f'"{tag}"') != f'"{tag}"':
            start = 0
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        if self.served.tags:
            self.send_header("ETag", f'"{tag}"')
        if name in self.served.md5:
            digest = base64.b64encode(hashlib.md5(self.served.md5[name]).digest()).decode()
            self.send_header("x-goog-hash", f"crc32c=AAAAAA==, md5={digest}")
        self.send_header("X-Repo-Commit", REVISION)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        if with_body:
            self._send(body[start:], cut=name.endswith(".zip"))

    def _send(self, body: bytes, cut: bool) -> None:
        limit = self.served.cut_after
        if cut and limit is not None and self.served.cuts > 0 and len(body) > limit:
            self.served.cuts -= 1
            body = body[:limit]
            self.close_connection = True
        self.wfile.write(body)
