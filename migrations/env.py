"""Runs migrations on the engine that `core.database` hands in."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from sqlalchemy import JSON

from core.tables import Base
from core.tables.base import UtcDateTime


def render_item(kind: str, item: Any, _context: Any) -> str | Literal[False]:
    """Write our column types as plain SQLAlchemy ones, so that old migrations need none of our code."""
    if kind == "type" and isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    if kind == "type" and isinstance(item, JSON):
        return 'sa.JSON().with_variant(postgresql.JSONB(), "postgresql")'
    return False


engine = context.config.attributes["engine"]
with engine.connect() as connection:
    if connection.dialect.name == "postgresql":
        # A migration that cannot get its lock gives up instead of stopping the service behind it.
        connection.exec_driver_sql("SET lock_timeout = '5s'")
        connection.commit()
    if connection.dialect.name == "sqlite":
        # A table that is made anew is dropped in between; with foreign keys on, that would delete the rows that
        # point to it. The switch works only outside a transaction, so it is thrown before one begins.
        connection.connection.driver_connection.execute("PRAGMA foreign_keys=OFF")
        # Two that start at once migrate one after the other; the second finds nothing left to do.
        connection = connection.execution_options(sqlite_begin="BEGIN IMMEDIATE")
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=connection.dialect.name == "sqlite",
        compare_type=True,
        render_item=render_item,
    )
    try:
        with context.begin_transaction():
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('aqa migrations'))")
            context.run_migrations()
        connection.commit()
    finally:
        if connection.dialect.name == "sqlite":
            connection.rollback()
            connection.connection.driver_connection.execute("PRAGMA foreign_keys=ON")
