"""What pages show, kept by exactly what it was made from, so that nothing kept is ever stale."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from core.changes import Changes
from core.database import Database
from leaderboard.board import assemble
from leaderboard.entries import read_entries
from leaderboard.examples import METRICS, Table, table_of
from leaderboard.ranking import read_many
from leaderboard.records import Board
from submissions.labels import synthetic_ratings

_Value = TypeVar("_Value")


class Kept(Generic[_Value]):
    """The last `most` values by key; safe between threads. Two threads may make one value twice, alike."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[Hashable, _Value] = OrderedDict()
        self._lock = threading.Lock()

    def held(self, key: Hashable) -> _Value | None:
        """The kept value of the key, if there is one."""
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
            return self._held.get(key)

    def get(self, key: Hashable, make: Callable[[], _Value]) -> _Value:
        """The kept value of the key, or a new one."""
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key]
        made = make()
        self.keep(key, made)
        return made

    def keep(self, key: Hashable, value: _Value) -> None:
        """Keep a value; the one that was longest unused goes where there are too many."""
        with self._lock:
            self._held[key] = value
            while len(self._held) > self._most:
                self._held.popitem(last=False)


class Boards:
    """The boards of a process; a key holds every entry's evaluation, which changes when its scores do.

    While nothing was committed, the entries are not even read again within a second: the clock alone can change a
    board too, since a team's name is hidden up to a moment.
    """

    def __init__(self, database: Database, keep: int = 16) -> None:
        self._database = database
        self._changes = Changes(database)
        self._now: Kept[Board] = Kept(keep)
        self._boards: Kept[Board] = Kept(keep)
        self._tables: Kept[Table] = Kept(12)

    def get(self, benchmark_id: str, rank_by: str = "") -> Board:
        """The board as it is now. Raises as `leaderboard.board.rows`."""
        moment = (benchmark_id, rank_by, self._changes.mark(), int(time.monotonic()))
        return self._now.get(moment, lambda: self._read(benchmark_id, rank_by))

    def _read(self, benchmark_id: str, rank_by: str) -> Board:
        with self._database.reading() as session:
            entries = read_entries(session, benchmark_id)
            key = (benchmark_id, rank_by, synthetic_ratings(session, benchmark_id), entries)
            return self._boards.get(key, lambda: assemble(session, benchmark_id, entries, rank_by or None))

    def tables(self, board: Board) -> dict[str, Table]:
        """Values by question and system of the metrics that examples show; evaluations never change."""
        ids = evaluations_of(board)
        return {metric: self._table(metric, ids, board.questions) for metric in METRICS}

    def _table(self, metric: str, ids: tuple[int, ...], questions: int) -> Table:
        def read() -> Table:
            with self._database.reading() as session:
                return table_of(read_many(session, ids, metric), ids, questions)

        return self._tables.get((metric, ids), read)


def evaluations_of(board: Board) -> tuple[int, ...]:
    """The evaluations behind a board, in its order: with the entries' flags, all that its figures depend on."""
    return tuple(row.entry.evaluation_id for row in board.rows)
