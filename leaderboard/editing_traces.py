"""The steps by which a run made its revisions, read from what the run kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import NotFound
from core.ports import Blobs
from core.tables import RunRow
from leaderboard.cache import Kept

_BATCH = 500
_PIECE = 1 << 16


_POSITION = re.compile(rb'\{"position":(\d+),')


class Traces:
    """Reads single lines of what runs kept: where each begins is found once, since blobs never change."""

    def __init__(self, blobs: Blobs, keep: int = 128) -> None:
        self._blobs = blobs
        self._starts: Kept[dict[int, int]] = Kept(keep)

    def of(self, session: Session, submissions: Sequence[str], position: int) -> dict[str, dict[str, Any]]:
        """What each submission's run tells of one item; submissions that no run here made are left out."""
        found = {}
        for submission, key in _outputs(session, submissions).items():
            trace = self._trace(key, position)
            if trace is not None:
                found[submission] = trace
        return found

    def _trace(self, key: str, position: int) -> dict[str, Any] | None:
        try:
            start = self._starts.get(key, lambda: _starts(self._blobs, key)).get(position)
            if start is None:
                return None
            with self._blobs.open(key, start) as stream:
                line = next(_lines(stream), b"")
            trace = orjson.loads(line).get("trace")
        except (NotFound, orjson.JSONDecodeError):
            return None
        return trace if isinstance(trace, dict) else None


def _starts(blobs: Blobs, key: str) -> dict[int, int]:
    """Position → the byte at which its line begins."""
    starts: dict[int, int] = {}
    at = 0
    with blobs.open(key) as stream:
        for line in _lines(stream):
            if found := _POSITION.match(line):
                starts.setdefault(int(found[1]), at)
            at += len(line)
    return starts


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines with their ends; a stream of an object store gives pieces where it is asked for lines."""
    held = b""
    while piece := stream.read(_PIECE):
        *whole, held = (held + piece).split(b"\n")
        yield from (line + b"\n" for line in whole)
    if held:
        yield held


def _outputs(session: Session, submissions: Sequence[str]) -> dict[str, str]:
    """The blob of the outputs by submission."""
    held: dict[str, str] = {}
    for start in range(0, len(submissions), _BATCH):
        query = select(RunRow.submission_id, RunRow.details).where(
            RunRow.submission_id.in_(submissions[start : start + _BATCH])
        )
        for submission, details in session.execute(query):
            key = (details or {}).get("outputs")
            if submission is not None and isinstance(key, str):
                held[submission] = key
    return held
