"""Downloads: what `hf_hub_download` and `snapshot_download` fetch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from apiflask import APIBlueprint
from flask import Response, request
from werkzeug.exceptions import RequestedRangeNotSatisfiable
from werkzeug.wrappers import Response as AnyResponse

from server.access import public
from server.context import services
from server.downloads import elsewhere
from server.hub.sight import look
from submissions.repos.errors import EntryNotFound

bp = APIBlueprint("resolve", __name__, url_prefix="/datasets/<namespace>/<name>", enable_openapi=False)
_PIECE = 1 << 20


@bp.get("/resolve/<revision>/<path:path>")
@bp.get("/raw/<revision>/<path:path>", endpoint="raw")
@public
def resolve(namespace: str, name: str, revision: str, path: str) -> AnyResponse:
    """A file's bytes, whole or a range of them; a large one straight from the object store, if there is one."""
    with services().database.reading() as session:
        sight = look(session, namespace, name)
        commit = sight.resolve(session, revision)
        row = sight.tree(session, commit).get(path)
    if row is None:
        raise EntryNotFound(f"There is no file {path[:100]!r} at {revision[:60]}.", "List the files of the repository.")
    if request.method != "HEAD" and not request.if_range.etag:  # by HEAD a client learns what it will get
        there = elsewhere(services(), row.blob, row.size, path.rsplit("/", 1)[-1])
        if there is not None:
            there.headers["X-Repo-Commit"] = commit.oid
            return there
    start, end = _range(row.size, row.oid)
    response = Response(mimetype="application/octet-stream", status=206 if end - start < row.size else 200)
    if request.method != "HEAD":
        stream = services().blobs.open(row.blob)
        response.response = _pieces(stream, start, end)
        response.call_on_close(stream.close)
    response.headers["ETag"] = f'"{row.oid}"'
    response.headers["X-Repo-Commit"] = commit.oid
    response.headers["Accept-Ranges"] = "bytes"
    response.headers["Content-Length"] = str(end - start)
    # A browser never shows what a team sent in, whatever it holds.
    response.headers["Content-Disposition"] = "attachment"
    if response.status_code == 206:
        response.headers["Content-Range"] = f"bytes {start}-{end - 1}/{row.size}"
    return response


def _range(size: int, oid: str) -> tuple[int, int]:
    """From where to before where to send. A range of another content, or of several parts, is not honoured."""
    wanted = request.range
    if wanted is None or len(wanted.ranges) != 1 or (request.if_range.etag not in (None, oid)):
        return 0, size
    found = wanted.range_for_length(size)
    if found is None:
        raise RequestedRangeNotSatisfiable(length=size)
    return found


def _pieces(stream: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    """The bytes of a range; blobs of an object store cannot be sought in, so what comes before is read past."""
    at = 0
    if start and getattr(stream, "seekable", lambda: False)():
        at = stream.seek(start)
    while at < end and (piece := stream.read(min(_PIECE, end - at))):
        wanted = piece[max(start - at, 0) :]
        at += len(piece)
        if wanted:
            yield wanted
