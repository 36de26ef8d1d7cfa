"""A board as the API's JSON, written out once per state of the board."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, replace

import orjson

from core.changes import Changes
from core.database import Database
from leaderboard.cache import Boards
from leaderboard.records import Board

_MOST = 32
_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Document:
    """The bytes of a board, and a short name of exactly these bytes."""

    data: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class _Held:
    mark: Hashable
    until: float
    board: Board
    document: Document


class BoardJson:
    """The documents of a process; safe between threads.

    While nothing at all was committed, a document is given again unasked; after any commit the board's entries are
    read, and it is written anew where they differ. The clock alone can change a board too (a team's name is hidden up
    to a moment), so after `seconds` the entries are read in any case.
    """

    def __init__(self, database: Database, boards: Boards, seconds: float = _SECONDS) -> None:
        self._changes = Changes(database)
        self._boards = boards
        self._seconds = seconds
        self._held: OrderedDict[tuple[str, str], _Held] = OrderedDict()
        self._lock = threading.Lock()

    def held(self, benchmark_id: str, rank_by: str = "") -> Document | None:
        """The document that is known to be as the board is now, if there is one; reads no table."""
        key = (benchmark_id, rank_by)
        held = self._held.get(key)
        if held is None or held.mark != self._changes.mark():
            return None
        if (now := time.monotonic()) < held.until:
            return held.document
        with self._lock:  # one asker looks; those who come meanwhile need not
            if self._held.get(key) is held:
                self._held[key] = replace(held, until=now + self._seconds)
                return None
        return held.document

    def get(self, benchmark_id: str, rank_by: str = "") -> Document:
        """The board as it is now. Raises as `leaderboard.board.rows`."""
        key, mark, now = (benchmark_id, rank_by), self._changes.mark(), time.monotonic()
        with self._lock:
            held = self._held.get(key)
        board = self._boards.get(benchmark_id, rank_by)
        document = held.document if held is not None and held.board is board else write(board)
        with self._lock:
            self._held[key] = _Held(mark, now + self._seconds, board, document)
            self._held.move_to_end(key)
            while len(self._held) > _MOST:
                self._held.popitem(last=False)
        return document


def write(board: Board) -> Document:
    """The board's bytes: UTF-8, no NaN."""
    data = orjson.dumps(board.to_dict(), option=orjson.OPT_SERIALIZE_NUMPY)
    return Document(data, hashlib.sha256(data).hexdigest()[:32])
