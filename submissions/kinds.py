"""The kinds of jobs that entries and ratings queue; `server.jobs` says what each does."""

from __future__ import annotations

from core.queue import LARGE, SMALL

_SMALL_ROWS = 1_000

EVALUATE = "evaluate"
EVALUATE_RELEASED = "evaluate-released"
"""Scores a system of the paper's release with the released judgments."""
RESCORE = "rescore"
"""Scores a submission under another recipe, beside what is shown; its subject is `SUBMISSION@RESCORE`."""


def priority_of(rows: int) -> int:
    """The priority of an evaluation by its number of predictions: small files go before large ones."""
    return LARGE if rows > _SMALL_ROWS else SMALL
