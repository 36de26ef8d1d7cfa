"""The moments at which a board can be looked at again: stored snapshots, and days for which it is rebuilt."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime

from sqlalchemy.orm import Session

from core.errors import NotFound
from core.tables.base import utc_now
from leaderboard.history import board_on, days
from leaderboard.records import Board
from leaderboard.snapshots import find, restore, taken

_STORED = "snapshot-"


@dataclass(frozen=True, slots=True)
class Moment:
    """A board of the past; `key` stands in addresses. A stored one was kept then and has not changed since."""

    key: str
    at: datetime
    stored: bool
    now: bool = False

    @property
    def label(self) -> str:
        """How it is called in lists and headings."""
        if self.now:
            return f"{self.at:%Y-%m-%d}, now"
        return f"{self.at:%Y-%m-%d %H:%M}, stored" if self.stored else f"{self.at:%Y-%m-%d}, rebuilt"

    @property
    def snapshot(self) -> int | None:
        """The id of its snapshot, where it is stored."""
        return int(self.key.removeprefix(_STORED)) if self.stored else None


def moments(session: Session, benchmark_id: str) -> list[Moment]:
    """All moments of a board, newest first. Raises `NotFound` for the benchmark."""
    today = utc_now().date()
    found = [
        Moment(day.isoformat(), datetime(day.year, day.month, day.day, 23, 59, 59, tzinfo=UTC), False, day == today)
        for day in days(session, benchmark_id)
    ]
    found += [Moment(f"{_STORED}{each.id}", each.taken_at, True) for each in taken(session, benchmark_id)]
    return sorted(found, key=lambda each: (each.at, each.key), reverse=True)


def board_at(session: Session, benchmark_id: str, moment: Moment, rank_by: str | None = None) -> Board:
    """The board of a moment; `rank_by` counts where it is rebuilt. Raises `NotFound`."""
    if moment.snapshot is None:
        return board_on(session, benchmark_id, date.fromisoformat(moment.key), rank_by)
    found = find(session, moment.snapshot)
    if found.benchmark_id != benchmark_id:
        raise NotFound(f"Snapshot {found.id} is of another benchmark.", "Choose one of this benchmark.")
    return restore(session, found)
