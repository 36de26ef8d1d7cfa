"""An architecture in short: best with its interval, median, count, and the gap AutoAIS − AIS."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

from leaderboard.records import Best, Column, Row, Spread, Summary


def summarise(rows: Sequence[Row], columns: Sequence[Column]) -> Summary:
    """The summary of one architecture's rows."""
    gaps = [
        automatic.value - human.value
        for row in rows
        if (automatic := row.metrics.get("autoais")) is not None
        and (human := row.metrics.get("ais")) is not None
        and automatic.value is not None
        and human.value is not None
    ]
    return Summary(len(rows), {c.key: _spread(rows, c.key) for c in columns}, fmean(gaps) if gaps else None, len(gaps))


def _spread(rows: Sequence[Row], key: str) -> Spread:
    values = [(row, cell) for row in rows if (cell := row.metrics[key]).unranked is None and cell.value is not None]
    if not values:
        return Spread(0, None, None)
    row, cell = max(values, key=lambda pair: pair[1].value or 0.0)
    best = Best(row.entry.system_id, row.entry.system, cell.value or 0.0, cell.low, cell.high)
    return Spread(len(values), best, median(c.value for _, c in values if c.value is not None))
