"""Long lists in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

_Thing = TypeVar("_Thing")
LOOKUP = 500
"""Values in one `IN (…)`: SQLite bounds the parameters of a statement."""


def batches(things: Sequence[_Thing], size: int = LOOKUP) -> Iterator[Sequence[_Thing]]:
    """Slices of at most `size`, in order."""
    return (things[start : start + size] for start in range(0, len(things), size))
