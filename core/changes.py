"""Whether the database may have changed since it was last looked at, asked without reading any table."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Hashable
from pathlib import Path
from typing import Any

from sqlalchemy.exc import DBAPIError

from core.database import Database


class Changes:
    """A mark that is equal to an earlier one only if no transaction was committed in between. Safe between threads.

    What is read after a mark was taken may be kept under it: the state is at least as new as the mark.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._watching: Any = None
        self._taken: Any = None

    def mark(self) -> Hashable:
        """SQLite: the count of others' commits, as a connection sees it that never writes itself.

        PostgreSQL: the snapshot that a transaction begun now would read by, which decides all that it sees; commits in
        other databases of the server change it too. Where the database does not answer, no two marks are equal.
        """
        try:
            with self._lock:
                return self._count() if self._database.is_sqlite else self._snapshot()
        except (sqlite3.Error, DBAPIError, self._database.engine.dialect.loaded_dbapi.Error):
            self._watching = None
            return object()  # whoever reads next meets the fault where it is told in full

    def _count(self) -> Hashable:
        path = self._database.url.database
        if not path or path == ":memory:":
            return object()  # no other connection could see it
        if self._watching is None:
            address = f"{Path(path).absolute().as_uri()}?mode=ro"
            self._watching = sqlite3.connect(address, uri=True, timeout=30, check_same_thread=False)
        return int(self._watching.execute("PRAGMA data_version").fetchone()[0])

    def _snapshot(self) -> Hashable:
        if self._watching is None:
            taken = self._database.engine.raw_connection()
            self._watching, self._taken = taken.driver_connection, taken
            taken.detach()  # one of its own, beside the pool
            self._watching.autocommit = True
        return str(self._watching.execute("SELECT pg_current_snapshot()::text").fetchone()[0])
