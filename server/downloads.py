"""Files to download: their types, a header that treats names as data, and large ones straight from the object store."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import BinaryIO
from urllib.parse import quote

from flask import Response, redirect
from werkzeug.http import dump_options_header
from werkzeug.wrappers import Response as AnyResponse

from server.bootstrap import Services

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}
_PIECE = 1 << 20


def attachment(data: bytes, name: str) -> Response:
    """A response that browsers save under `name`; the type goes by its extension."""
    return _named(Response(data, content_type=TYPES[name.rsplit(".", 1)[-1]]), name)


def stored(services: Services, blob: str, name: str) -> AnyResponse:
    """A stored file under `name`: where to fetch a large one from the object store for a while, else its bytes.

    Whoever asks must be allowed to have it by then. Raises `NotFound` for a blob that is gone.
    """
    size = services.blobs.size(blob)
    if (there := elsewhere(services, blob, size, name)) is not None:
        return there
    stream = services.blobs.open(blob)
    response = Response(_pieces(stream), content_type="application/octet-stream")
    response.call_on_close(stream.close)
    response.content_length = size
    return _named(response, name)


def elsewhere(services: Services, blob: str, size: int, name: str) -> AnyResponse | None:
    """The redirect to the object store for a file that is large enough for it; None where the service sends it."""
    least = services.settings.s3_link_mb * 2**20
    link = services.blobs.link(blob, name) if least and size >= least else None
    return None if link is None else redirect(link, 302)


def _named(response: Response, name: str) -> Response:
    """Headers are Latin at most, so that other letters go in the form of RFC 6266, beside a plain name."""
    shown = "".join(letter if letter.isprintable() else "_" for letter in name)
    plain = unicodedata.normalize("NFKD", shown).encode("ascii", "ignore").decode()
    names = (
        {"filename": plain} if plain == shown else {"filename": plain, "filename*": f"UTF-8''{quote(shown, safe='')}"}
    )
    response.headers["Content-Disposition"] = dump_options_header("attachment", names)
    return response


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    while piece := stream.read(_PIECE):
        yield piece
