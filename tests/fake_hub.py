"""A small Hub for tests: models and datasets, pull requests, gated and private repositories, and 429 on demand."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

_WHEN = "2024-01-01T00:00:00.000Z"


@dataclass
class FakePullRequest:
    """`files` are those that it adds to main."""

    author: str
    files: dict[str, bytes]
    status: str = "open"
    comments: list[str] = field(default_factory=list)


@dataclass
class FakeRepo:
    """One repository; `info` is added to what the Hub tells of it."""

    files: dict[str, bytes] = field(default_factory=dict)
    gated: bool = False
    private: bool = False
    info: dict[str, Any] = field(default_factory=dict)
    pull_requests: dict[int, FakePullRequest] = field(default_factory=dict)

    def at(self, revision: str) -> tuple[str, dict[str, bytes]] | None:
        """The commit and the files of main, of a pull request's ref, or of one of their commits."""
        states = {"main": self.files}
        states |= {f"refs/pr/{n}": self.files | request.files for n, request in self.pull_requests.items()}
        for name, files in states.items():
            commit = _commit(files)
            if revision in (name, commit):
                return commit, files
        return None


@dataclass
class FakeHub:
    """What is served. `busy` answers so many requests with 429, `broken` so many with 500; `asked` tells of all."""

    repos: dict[tuple[str, str], FakeRepo] = field(default_factory=dict)
    token: str = "hf_service"
    """Bearers of this token may read gated and private repositories."""
    busy: int = 0
    broken: int = 0
    retry_after: str = "7"
    asked: list[tuple[str, str]] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    """Every token that was ever sent."""
    url: str = ""

    def dataset(self, name: str, **about: Any) -> FakeRepo:
        """Add a dataset repository."""
        return self.repos.setdefault(("datasets", name), FakeRepo(**about))

    def model(self, name: str, **about: Any) -> FakeRepo:
        """Add a model repository."""
        return self.repos.setdefault(("models", name), FakeRepo(**about))


@contextmanager
def serving(hub: FakeHub) -> Iterator[FakeHub]:
    """Serve on a free port of this machine for the time of the block."""

    class Handler(_Handler):
        served = hub

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


class _Answer(Exception):
    def __init__(self, status: int, body: Any = None, data: bytes = b"", **headers: str) -> None:
        self.status, self.headers = status, {name.replace("_", "-"): value for name, value in headers.items()}
        self.data = data if body is None else json.dumps(body).encode()


class _Handler(BaseHTTPRequestHandler):
    served: FakeHub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._respond()

    do_HEAD = do_POST = do_GET  # noqa: N815 - the names that the server looks for

    def _respond(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        self.served.asked.append((self.command, parts.path))
        sent = self.headers.get("Authorization", "").removeprefix("Bearer ")
        self.served.tokens |= {sent} if sent else set()
        try:
            if self.served.busy > 0:
                self.served.busy -= 1
                raise _Answer(429, {"error": "Too many requests"}, Retry_After=self.served.retry_after)
            if self.served.broken > 0:
                self.served.broken -= 1
                raise _Answer(500, {"error": "Oops"})
            self._route(parts.path, parse_qs(parts.query), body, sent)
            raise _Answer(404, {"error": "No such call"})
        except _Answer as answer:
            self._send(answer)

    def _send(self, answer: _Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(answer.data)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.data)

    def _route(self, path: str, query: dict[str, list[str]], body: bytes, sent: str) -> None:
        if found := re.fullmatch(r"/api/(models|datasets)/([^/]+/[^/]+)(/.*)?", path):
            repo = self._repo(found[1], found[2], sent)
            self._about(repo, found[1], found[2], (found[3] or "").lstrip("/").split("/", 1), query, body)
        elif found := re.fullmatch(r"/(?:(datasets)/)?([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            repo = self._repo(found[1] or "models", found[2], sent)
            if repo.gated and sent != self.served.token:
                raise _Answer(403, {"error": "Gated"}, X_Error_Code="GatedRepo", X_Error_Message="Gated")
            commit, files = self._at(repo, unquote(found[3]))
            if (data := files.get(unquote(found[4]))) is None:
                raise _Answer(404, X_Error_Code="EntryNotFound", X_Repo_Commit=commit)
            raise _Answer(200, data=data, ETag=f'"{_oid(data)}"', X_Repo_Commit=commit)

    def _repo(self, kind: str, name: str, sent: str) -> FakeRepo:
        repo = self.served.repos.get((kind, name))
        if repo is None or (repo.private and sent != self.served.token):
            raise _Answer(401, {"error": "Repository not found"}, X_Error_Code="RepoNotFound")
        return repo

    def _at(self, repo: FakeRepo, revision: str) -> tuple[str, dict[str, bytes]]:
        found = repo.at(revision)
        if found is None:
            raise _Answer(404, {"error": "Invalid rev id"}, X_Error_Code="RevisionNotFound")
        return found

    def _about(
        self, repo: FakeRepo, kind: str, name: str, call: list[str], query: dict[str, list[str]], body: bytes
    ) -> None:
        what, rest = call[0], unquote(call[1]) if len(call) > 1 else ""
        if what in ("", "revision"):
            commit, files = self._at(repo, rest or "main")
            siblings = [{"rfilename": p, "size": len(d), "blobId": _oid(d)} for p, d in sorted(files.items())]
            about = {"id": name, "sha": commit, "private": repo.private, "siblings": siblings}
            raise _Answer(200, about | {"gated": "auto" if repo.gated else False} | repo.info)
        if what in ("tree", "paths-info"):
            _, files = self._at(repo, rest)
            wanted = parse_qs(body.decode()).get("paths", list(files)) if what == "paths-info" else list(files)
            raise _Answer(200, [_entry(path, files[path]) for path in sorted(wanted) if path in files])
        if what == "discussions" and not rest:
            listed = [_discussion(kind, name, n, request) for n, request in sorted(repo.pull_requests.items())]
            listed = [each for each in listed if each["status"] in query.get("status", [each["status"]])]
            raise _Answer(200, {"count": len(listed), "start": 0, "discussions": listed})
        if what == "discussions" and rest.endswith("/comment"):
            text = json.loads(body)["comment"]
            repo.pull_requests[int(rest.split("/")[0])].comments.append(text)
            data = {"edited": False, "hidden": False, "latest": {"raw": text}}
            event = {"id": "1", "type": "comment", "createdAt": _WHEN, "author": {"name": "service"}, "data": data}
            raise _Answer(200, {"newMessage": event})


def _discussion(kind: str, name: str, number: int, request: FakePullRequest) -> dict[str, Any]:
    return {
        "title": f"Change {number}", "num": number, "author": {"name": request.author}, "createdAt": _WHEN,
        "status": request.status, "isPullRequest": True, "repo": {"name": name, "type": kind.removesuffix("s")},
    }  # fmt: skip


def _entry(path: str, data: bytes) -> dict[str, Any]:
    return {"type": "file", "path": path, "oid": _oid(data), "size": len(data)}


def _oid(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def _commit(files: dict[str, bytes]) -> str:
    return hashlib.sha1(repr(sorted(files.items())).encode()).hexdigest()
