"""Boards kept by exactly what they show, so that a kept board is never stale."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TypeVar

from core.database import Database
from leaderboard.board import assemble
from leaderboard.entries import read_entries, synthetic_ratings
from leaderboard.examples import METRICS, Table, table_of
from leaderboard.ranking import read_many
from leaderboard.records import Board, Entry

_K = TypeVar("_K")
_V = TypeVar("_V")

_TABLES = 12
_Key = tuple[str, str, bool, tuple[Entry, ...]]


class Boards:
    """The last boards of a process; the key holds every entry's evaluation, which changes when scores do."""

    def __init__(self, database: Database, keep: int = 16) -> None:
        self._database = database
        self._keep = keep
        self._held: OrderedDict[_Key, Board] = OrderedDict()
        self._tables: OrderedDict[tuple[str, tuple[int, ...]], Table] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, benchmark_id: str, rank_by: str = "") -> Board:
        """The board as it is now. Raises as `leaderboard.board.rows`."""
        with self._database.reading() as session:
            entries = read_entries(session, benchmark_id)
            key = (benchmark_id, rank_by, synthetic_ratings(session, benchmark_id), entries)
            with self._lock:
                found = self._held.pop(key, None)
            found = found or assemble(session, benchmark_id, entries, rank_by or None)
        self._hold(self._held, key, found, self._keep)
        return found

    def tables(self, board: Board) -> dict[str, Table]:
        """Values by question and system of the metrics that examples show; evaluations never change."""
        ids = tuple(row.entry.evaluation_id for row in board.rows)
        return {metric: self._table(metric, ids, board.questions) for metric in METRICS}

    def _table(self, metric: str, ids: tuple[int, ...], questions: int) -> Table:
        with self._lock:
            found = self._tables.pop((metric, ids), None)
        if found is None:
            with self._database.reading() as session:
                found = table_of(read_many(session, ids, metric), ids, questions)
        self._hold(self._tables, (metric, ids), found, _TABLES)
        return found

    def _hold(self, kept: OrderedDict[_K, _V], key: _K, value: _V, most: int) -> None:
        with self._lock:
            kept[key] = value
            while len(kept) > most:
                kept.popitem(last=False)
