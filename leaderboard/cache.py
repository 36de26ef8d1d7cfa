"""Boards kept by exactly what they show, so that a kept board is never stale."""

from __future__ import annotations

import threading
from collections import OrderedDict

from core.database import Database
from leaderboard.board import assemble
from leaderboard.entries import read_entries, synthetic_ratings
from leaderboard.records import Board, Entry

_Key = tuple[str, str, bool, tuple[Entry, ...]]


class Boards:
    """The last boards of a process; the key holds every entry's evaluation, which changes when scores do."""

    def __init__(self, database: Database, keep: int = 16) -> None:
        self._database = database
        self._keep = keep
        self._held: OrderedDict[_Key, Board] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, benchmark_id: str, rank_by: str = "") -> Board:
        """The board as it is now. Raises as `leaderboard.board.rows`."""
        with self._database.reading() as session:
            entries = read_entries(session, benchmark_id)
            key = (benchmark_id, rank_by, synthetic_ratings(session, benchmark_id), entries)
            with self._lock:
                found = self._held.pop(key, None)
            found = found or assemble(session, benchmark_id, entries, rank_by or None)
        with self._lock:
            self._held[key] = found
            while len(self._held) > self._keep:
                self._held.popitem(last=False)
        return found
