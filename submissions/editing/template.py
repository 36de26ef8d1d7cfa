"""An entry of the editing track to fill in: all passages with an empty revision and an empty report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.records import Question
from submissions.formats.template import filled

COLUMNS = ("id", "text", "revised", "report")


def template(passages: Sequence[Question], kind: str) -> bytes:
    """The template as a file of `kind`. Raises `InvalidInput` for a kind that is not written."""
    report: list[Any] | str = [] if kind in ("json", "jsonl") else "[]"
    return filled(COLUMNS, [(passage.id, passage.text, "", report) for passage in passages], kind)
