"""The steps by which a run made its revisions, read from what the run kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import NotFound
from core.ports import Blobs
from core.tables import RunRow

_BATCH = 500


def traces(session: Session, blobs: Blobs, submissions: Sequence[str], position: int) -> dict[str, dict[str, Any]]:
    """What each submission's run tells of one item; submissions that no run here made are left out."""
    found = {}
    for submission, key in _outputs(session, submissions).items():
        trace = _trace(blobs, key, position)
        if trace is not None:
            found[submission] = trace
    return found


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


def _trace(blobs: Blobs, key: str, position: int) -> dict[str, Any] | None:
    """The trace of one item; lines are read until it is found, and only its own is parsed."""
    wanted = b'{"position":%d,' % position
    try:
        stream = blobs.open(key)
    except NotFound:
        return None
    with stream:
        for line in stream:
            if line.startswith(wanted):
                try:
                    trace = orjson.loads(line).get("trace")
                except orjson.JSONDecodeError:
                    return None
                return trace if isinstance(trace, dict) else None
    return None
