"""Many rows into one table in the fastest way that the database's driver has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from core.tables import Base


def insert_rows(session: Session, table: type[Base], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows in the session's transaction; nothing is read back and no default is filled in.

    Values must be what the driver itself takes: texts, whole numbers, floats, bytes or None. PostgreSQL gets them by
    COPY, SQLite by one prepared statement. Raises SQLAlchemy's errors, as any other statement does.
    """
    names = ", ".join(f'"{name}"' for name in columns)
    connection = session.connection()
    driver = connection.connection.cursor()
    copied = connection.dialect.name == "postgresql"
    into = f'"{table.__tablename__}" ({names})'
    marks = ", ".join("?" * len(columns))
    statement = f"COPY {into} FROM STDIN" if copied else f"INSERT INTO {into} VALUES ({marks})"  # nosec B608
    try:
        if copied:
            with driver.copy(statement) as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            driver.executemany(statement, rows)  # type: ignore[arg-type]  # sqlite3 takes any iterable
    except connection.dialect.loaded_dbapi.Error as error:
        base = connection.dialect.loaded_dbapi.Error
        raise DBAPIError.instance(statement, None, error, base, dialect=connection.dialect) from error
    finally:
        driver.close()
