"""What every reader gives: numbered rows of text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TableRow:
    """One data row, counted from 1; `cells` maps column → text as typed, None for a null.

    A key that a JSON object lacks is absent from `cells`.
    """

    row: int
    cells: dict[str, str | None]
