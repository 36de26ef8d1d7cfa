"""The kinds of jobs that entries and ratings queue; `server.jobs` says what each does."""

from __future__ import annotations

EVALUATE = "evaluate"
EVALUATE_RELEASED = "evaluate-released"
"""Scores a system of the paper's release with the released judgments."""
