"""The migrations lead to exactly the tables that the code declares, and back."""

from __future__ import annotations

import threading
import time

import pytest
from alembic import command
from sqlalchemy import Column, insert, inspect, text

from core.database import Database
from core.errors import InvalidInput, NeedsUpgrade
from core.tables import Base
from core.tables.base import UtcDateTime, utc_now


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


def _value(column: Column, number: int) -> object:
    """Something of the column's type, another one for each number."""
    if isinstance(column.type, UtcDateTime):
        return utc_now()
    kind = column.type.python_type
    if kind is str:
        return f"{number}{column.name}"[: getattr(column.type, "length", None) or 20]
    return {bool: True, int: number, float: number / 8, bytes: bytes([number]) * 16}.get(kind, {})


def _fill(database: Database, rows: int = 3) -> None:
    """A few rows in every table, whatever tables there are, each pointing to rows of its own number."""
    with database.engine.begin() as connection:
        for table in Base.metadata.sorted_tables:
            for number in range(1, rows + 1):
                values = {column.name: _value(column, number) for column in table.columns}
                for column in table.columns:
                    for key in column.foreign_keys:
                        values[column.name] = _value(key.column, number)
                connection.execute(insert(table).values(values))


def _counts(database: Database) -> dict[str, int]:
    names = set(inspect(database.engine).get_table_names()) - {"alembic_version"}
    with database.engine.connect() as connection:
        return {name: connection.exec_driver_sql(f'SELECT count(*) FROM "{name}"').scalar_one() for name in names}


def test_every_step_down_and_up_keeps_the_rows_of_a_filled_database(database: Database) -> None:
    """Each migration undone and done again on rows of all tables: what both of its ends have, stays."""
    _fill(database)
    config = database._alembic_config()
    before = _counts(database)
    assert set(before) == set(Base.metadata.tables)
    assert set(before.values()) == {3}
    while (at := database.revision()) is not None:
        command.downgrade(config, "-1")
        below = _counts(database)
        if not below:
            break
        assert below == {name: before[name] for name in below}, at
        command.upgrade(config, "+1")
        above = _counts(database)
        assert database.revision() == at
        assert {name: above[name] for name in below} == below, at
        command.downgrade(config, "-1")
        before = _counts(database)
        assert before == below, at
    command.upgrade(config, "head")
    command.check(config)


def test_older_batches_of_sentence_labels_learn_which_splitter_numbered_them(database: Database) -> None:
    _fill(database)
    config = database._alembic_config()
    with database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE edit_rating SET sentence = 0 WHERE batch_id = 2")
        connection.exec_driver_sql("DELETE FROM edit_rating WHERE batch_id = 3")
    command.downgrade(config, "0010")
    command.upgrade(config, "head")
    with database.engine.connect() as connection:
        found = connection.exec_driver_sql("SELECT id, splitter FROM rating_batch ORDER BY id").all()
    assert [tuple(row) for row in found] == [(1, "pysbd-0.3.4.1"), (2, None), (3, None)]


def test_a_filled_database_comes_back_from_the_first_migration(database: Database) -> None:
    _fill(database)
    config = database._alembic_config()
    command.downgrade(config, "0001")
    oldest = _counts(database)
    assert set(oldest.values()) == {3}
    command.upgrade(config, "head")
    after = _counts(database)
    assert {name: after[name] for name in oldest} == oldest
    with database.reading() as session:
        for table in oldest:
            mapped = next(m.class_ for m in Base.registry.mappers if m.local_table.name == table)
            assert len(session.query(mapped).all()) == 3, "every column can be read"
    if database.is_sqlite:
        with database.engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []
            assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"


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


def test_a_migration_that_gave_up_changed_nothing(postgres_url: str) -> None:
    """On rows, amid what other migrations did before it in the same run; once the lock is gone, it goes through."""
    from sqlalchemy.exc import OperationalError

    database = Database(postgres_url)
    _fill(database)
    before, revision, config = _counts(database), database.revision(), database._alembic_config()
    with database.engine.connect() as holder:
        holder.exec_driver_sql("LOCK TABLE team IN ACCESS SHARE MODE")
        begun = time.monotonic()
        with pytest.raises(OperationalError, match="lock timeout"):
            command.downgrade(config, "base")
        assert time.monotonic() - begun < 60
    assert (_counts(database), database.revision()) == (before, revision)
    command.downgrade(config, "0001")
    command.upgrade(config, "head")
    assert _counts(database)["team"] == 3
    database.engine.dispose()


def test_a_sqlite_file_that_is_being_written_is_waited_for(sqlite_url: str) -> None:
    database = Database(sqlite_url)
    _fill(database)
    command.downgrade(database._alembic_config(), "-1")
    with database.transaction() as session:
        session.execute(text("UPDATE team SET name = 'written meanwhile' WHERE id = 1"))
        other = threading.Thread(target=Database(sqlite_url).upgrade)
        other.start()
        other.join(0.5)
        assert other.is_alive(), "it waits"
    other.join(30)
    assert database.revision() == database.head()
    with database.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT name FROM team WHERE id = 1").scalar() == "written meanwhile"


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
