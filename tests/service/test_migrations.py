"""The migrations lead to exactly the tables that the code declares, and back."""

from __future__ import annotations

import pytest
from alembic import command
from sqlalchemy import inspect

from core.database import Database
from core.errors import InvalidInput, NeedsUpgrade
from core.tables import Base
from core.tables.base import utc_now


def test_the_tables_are_those_of_the_models(database: Database) -> None:
    command.check(database._alembic_config())


def test_down_and_up_again(database: Database) -> None:
    config = database._alembic_config()
    command.downgrade(config, "base")
    assert set(inspect(database.engine).get_table_names()) == {"alembic_version"}
    command.upgrade(config, "head")
    assert set(Base.metadata.tables) <= set(inspect(database.engine).get_table_names())
    assert database.revision() == database.head()


def test_rows_outlive_the_tables_they_point_to(database: Database) -> None:
    """SQLite changes a table by making it anew; what points to it must not go with the old one."""
    from core.tables import Team, Token

    with database.transaction() as session:
        session.add(Token(team=Team(name="a"), role="team", digest="d"))
    config = database._alembic_config()
    command.downgrade(config, "0002")
    command.upgrade(config, "head")
    with database.reading() as session:
        assert session.query(Token).one().team.name == "a"
    if database.is_sqlite:
        with database.engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
            assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []


def test_an_empty_sqlite_file_migrates_itself(tmp_path) -> None:
    database = Database(f"sqlite:///{tmp_path}/new/empty.sqlite")
    database.ensure_current()
    assert database.revision() == database.head()


def test_an_old_server_database_says_how(postgres_url: str) -> None:
    database = Database(postgres_url)
    command.downgrade(database._alembic_config(), "base")
    with pytest.raises(NeedsUpgrade) as raised:
        database.ensure_current()
    assert raised.value.hint == "Run: aqa db upgrade"


def test_a_migration_that_waits_for_a_lock_gives_up(postgres_url: str) -> None:
    from sqlalchemy.exc import OperationalError

    database = Database(postgres_url)
    command.downgrade(database._alembic_config(), "base")
    database.upgrade()
    with database.engine.connect() as holder:
        holder.exec_driver_sql("LOCK TABLE team IN ACCESS SHARE MODE")
        with pytest.raises(OperationalError, match="lock timeout"):
            command.downgrade(database._alembic_config(), "base")


def test_a_wrong_url_is_named() -> None:
    with pytest.raises(InvalidInput, match="AQA_DATABASE_URL"):
        Database("not a url")


def test_times_come_back_in_utc(database: Database) -> None:
    from core.tables import Team

    now = utc_now()
    with database.transaction() as session:
        session.add(Team(name="a", created_at=now))
    with database.reading() as session:
        assert session.query(Team).one().created_at == now
