"""Reading bodies of requests: JSON objects, and the lines of a commit as they arrive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
from flask import request

from core.errors import InvalidInput, TooLarge

_JSON_LIMIT = 8 * 2**20


def json_object() -> dict[str, Any]:
    """The body as a JSON object. Raises `InvalidInput`."""
    request.max_content_length = _JSON_LIMIT
    return _object(request.get_data(cache=False), "The body")


def json_lines(longest: int, whole: int) -> Iterator[dict[str, Any]]:
    """The body's lines as JSON objects, one in memory at a time; limits are bytes of a line and of the body."""
    request.max_content_length = whole
    for number, line in enumerate(_lines(longest), start=1):
        if line.strip():
            yield _object(line, f"Line {number}")


def _lines(longest: int) -> Iterator[bytes]:
    rest = bytearray()
    while piece := request.stream.read(1 << 20):
        start = len(rest)
        rest += piece
        while (end := rest.find(b"\n", start)) >= 0:
            yield bytes(rest[:end])
            del rest[: end + 1]
            start = 0
        if len(rest) > longest:
            raise TooLarge(f"A line of the commit is longer than {longest // 2**20:,} MiB.", "Send a smaller file.")
    yield bytes(rest)


def _object(data: bytes, what: str) -> dict[str, Any]:
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise InvalidInput(f"{what} is not JSON: {error}.", "Use the huggingface_hub library.") from None
    if not isinstance(found, dict):
        raise InvalidInput(f"{what} is not a JSON object.", "Use the huggingface_hub library.")
    return found
