"""The engine and its transactions; SQLite (WAL) by default, PostgreSQL by URL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError, OperationalError
from sqlalchemy.exc import TimeoutError as NoneFree
from sqlalchemy.orm import Session

from core.audit import AuditedSession
from core.errors import InvalidInput, NeedsUpgrade, NotInstalled, Unavailable
from core.extras import how_to_install
from core.settings import Settings

_IMMEDIATE = {"sqlite_begin": "BEGIN IMMEDIATE"}


@dataclass(frozen=True, slots=True)
class Pool:
    """A process' connections: `size` are kept, `overflow` more opened at need; after `timeout` seconds none is had."""

    size: int = 10
    overflow: int = 20
    timeout: float = 10.0

    @classmethod
    def from_settings(cls, settings: Settings) -> Pool:
        """As the settings say."""
        return cls(settings.pool_size, settings.pool_overflow, settings.pool_timeout)

    def arguments(self) -> dict[str, Any]:
        """What `create_engine` is told of it."""
        return {"pool_size": self.size, "max_overflow": self.overflow, "pool_timeout": self.timeout}


class Database:
    """One engine; `transaction()` to write, `reading()` to read."""

    def __init__(self, url: str, pool: Pool | None = None) -> None:
        try:
            self.url = make_url(url)
        except ArgumentError:
            raise InvalidInput(
                "AQA_DATABASE_URL is not a database URL", "For example sqlite:////data/aqa.sqlite."
            ) from None
        pool = pool or Pool()
        if self.is_sqlite:
            self.engine = _sqlite_engine(str(self.url.database or ""), url, pool)
        else:
            if self.url.drivername in ("postgresql", "postgres"):
                self.url = self.url.set(drivername="postgresql+psycopg")
            self.engine = _server_engine(self.url, pool)

    @property
    def is_sqlite(self) -> bool:
        """True on SQLite, where there is one writer at a time."""
        return self.url.get_backend_name() == "sqlite"

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """A session that commits at the end or rolls back whole, with the audit log of what it changed.

        On SQLite it holds the write lock from the start.
        """
        with (
            AuditedSession(self.engine.execution_options(**_IMMEDIATE), expire_on_commit=False) as session,
            session.begin(),
        ):
            yield session

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session to read; nothing it changes is kept.

        On SQLite all its queries see the state at the first; on a server each sees what was committed when it began
        (READ COMMITTED), so what must fit together is read by one query, or checked again where it is written.
        """
        with Session(self.engine, expire_on_commit=False) as session:
            yield session

    def revision(self) -> str | None:
        """The migration the database stands at; None for an empty one. Raises `Unavailable`."""
        from alembic.runtime.migration import MigrationContext

        try:
            with self.engine.connect() as connection:
                return MigrationContext.configure(connection).get_current_revision()
        except DatabaseError as error:
            raise Unavailable(f"The database does not answer: {error.orig}", self._advice()) from error

    def upgrade(self) -> None:
        """Bring the tables to this version's state."""
        from alembic import command

        command.upgrade(self._alembic_config(), "head")

    def ensure_current(self) -> None:
        """Migrate a SQLite file as needed; on a server say how. Raises `NeedsUpgrade`."""
        current, head = self.revision(), self.head()
        if current == head:
            return
        if self.is_sqlite:
            self.upgrade()
        else:
            raise NeedsUpgrade(
                f"The database stands at {current or 'nothing'}, this version needs {head}.",
                "Run: aqa db upgrade",
            )

    def head(self) -> str | None:
        """The newest migration that this version knows."""
        from alembic.script import ScriptDirectory

        return ScriptDirectory.from_config(self._alembic_config()).get_current_head()

    def ping(self) -> None:
        """Raise `Unavailable` if the database does not answer."""
        try:
            with self.engine.connect() as connection:
                connection.execute(text("SELECT 1"))
        except (OperationalError, NoneFree) as error:
            raise Unavailable("The database does not answer.") from error

    def _advice(self) -> str:
        if self.is_sqlite:
            return f"Check that {self.url.database} is a SQLite file that can be written, and that the disk has room."
        return "Check AQA_DATABASE_URL and that the server runs."

    def _alembic_config(self) -> Any:
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parents[1] / "migrations"))
        config.attributes["engine"] = self.engine
        return config


def _server_engine(url: URL, pool: Pool) -> Engine:
    if url.get_backend_name() != "postgresql":
        raise InvalidInput(
            f"AQA_DATABASE_URL names {url.get_backend_name()!r}; SQLite and PostgreSQL are supported.",
            "For example postgresql://USER@HOST/NAME.",
        )
    try:
        return create_engine(url, pool_pre_ping=True, **pool.arguments())
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise NotInstalled(
            f"The driver of {url.drivername!r} is not installed.", f"Install it with: {how_to_install('postgres')}"
        ) from error


def _sqlite_engine(path: str, url: str, pool: Pool) -> Engine:
    on_disk = bool(path) and path != ":memory:"
    if on_disk:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    pooled = pool.arguments() if on_disk else {}  # a database in memory is one connection
    engine = create_engine(url, connect_args={"timeout": 30, "check_same_thread": False}, **pooled)

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # the driver must not open transactions of its own
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=30000"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("sqlite_begin", "BEGIN"))

    return engine
