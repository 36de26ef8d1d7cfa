"""Rows in batches of like length, so that little of a batch is padding."""

from __future__ import annotations

from collections.abc import Sequence


def plan(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Batches of row numbers, longest rows first, each at most `budget` padded tokens, at least one row.

    The longest batch comes first, so that a batch too large for the memory fails at once.
    """
    batches: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lambda row: (-lengths[row], row)):
        if not batches or lengths[batches[-1][0]] * (len(batches[-1]) + 1) > budget:
            batches.append([])
        batches[-1].append(row)
    return batches
