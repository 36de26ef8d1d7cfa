"""Files to download: their types and a header that treats names as data."""

from __future__ import annotations

from flask import Response
from werkzeug.http import dump_options_header

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}


def attachment(data: bytes, name: str) -> Response:
    """A response that browsers save under `name`; the type goes by its extension."""
    response = Response(data, content_type=TYPES[name.rsplit(".", 1)[-1]])
    response.headers["Content-Disposition"] = dump_options_header("attachment", {"filename": name})
    return response
