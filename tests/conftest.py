"""Fixtures for all tests: real data, a fresh database of each kind, wired services."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.database import Database
from core.settings import Settings
from server.bootstrap import Services, build

POSTGRES = os.environ.get("AQA_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")
IN_CI = os.environ.get("CI") == "true"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real public data; tests that need it skip where it is absent."""
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("AQA_SHARED_DATA", root.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}")
    return folder


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file that tests copy."""
    path = tmp_path_factory.mktemp("template") / "aqa.sqlite"
    database = Database(f"sqlite:///{path}")
    database.upgrade()
    with database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    database.engine.dispose()
    return path


@pytest.fixture(scope="session")
def postgres_template() -> Iterator[str]:
    """The name of a migrated PostgreSQL database that tests copy."""
    name = f"aqa_template_{secrets.token_hex(4)}"
    _postgres(f"CREATE DATABASE {name}")
    database = Database(_postgres_url(name))
    database.upgrade()
    database.engine.dispose()
    yield name
    _postgres(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """A fresh migrated SQLite database."""
    path = tmp_path / "fresh.sqlite"
    shutil.copy(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture
def postgres_url(postgres_template: str) -> Iterator[str]:
    """A fresh migrated PostgreSQL database."""
    name = f"aqa_test_{secrets.token_hex(6)}"
    _postgres(f"CREATE DATABASE {name} TEMPLATE {postgres_template}")
    yield _postgres_url(name)
    _postgres(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def postgres_empty_url() -> Iterator[str]:
    """A PostgreSQL database without any table."""
    name = f"aqa_empty_{secrets.token_hex(6)}"
    _postgres(f"CREATE DATABASE {name}")
    yield _postgres_url(name)
    _postgres(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.service)])
def database_url(request: pytest.FixtureRequest) -> str:
    """A fresh migrated database, once of each kind."""
    return str(request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url"))


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """An opened fresh database, once of each kind."""
    opened = Database(database_url)
    yield opened
    opened.engine.dispose()


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    """Settings for one test: own database, own data folder, few resamples."""
    return Settings(
        judge="token-overlap", data_dir=str(tmp_path / "data"), database_url=database_url, bootstrap_resamples=499
    )


@pytest.fixture
def services(settings: Settings) -> Iterator[Services]:
    """Everything wired as in production, on a fresh database of each kind."""
    wired = build(settings)
    yield wired
    wired.database.engine.dispose()


@pytest.fixture(scope="session")
def s3_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real S3 server with the bucket `aqa-blobs`; its credentials stand in the environment while it runs."""
    folder = tmp_path_factory.mktemp("s3")
    (folder / "aqa-blobs").mkdir()
    key, secret = "test-key", secrets.token_hex(8)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [shutil.which("rclone", path=Path(sys.executable).parent) or "rclone", "serve", "s3", "--addr", address]
    command += ["--auth-key", f"{key},{secret}", "--config", str(folder / "none.conf"), str(folder)]
    patch = pytest.MonkeyPatch()
    for name, value in {
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_DEFAULT_REGION": "eu-1",
    }.items():
        patch.setenv(name, value)
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        _wait_for(address)
        yield f"http://{address}"
    finally:
        server.terminate()
        server.wait(60)
        patch.undo()


def _wait_for(address: str, seconds: float = 60) -> None:
    host, port = address.split(":")
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return


def _postgres_url(name: str) -> str:
    return f"{POSTGRES.rsplit('/', 1)[0]}/{name}"


def _postgres(statement: str) -> None:
    import psycopg

    try:
        with psycopg.connect(POSTGRES, autocommit=True, connect_timeout=60) as connection:
            connection.execute(statement)  # type: ignore[call-overload]
    except psycopg.OperationalError as error:
        if IN_CI:
            raise
        pytest.skip(f"no PostgreSQL at {POSTGRES}: {error}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """In CI only tests on absent real data may skip; any other skip is a failure."""
    report = yield
    if IN_CI and report.skipped and not hasattr(report, "wasxfail") and item.get_closest_marker("realdata") is None:
        report.outcome = "failed"
    return report
