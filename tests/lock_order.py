"""Submissions that lie in another order than they are to be locked in, and waiting until somebody waits for a lock."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from sqlalchemy import text

from core.database import Database
from server.bootstrap import Services
from submissions import intake
from tests.small_benchmark import submit

EARLIER, LATER = "a" * 12, "b" * 12


def downwards(services: Services, team: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two submissions, the later one with the smaller id; its job and its system come later, by id and by name."""
    for system, made in (("first", LATER), ("second", EARLIER)):
        with monkeypatch.context() as patch:
            patch.setattr(intake, "secrets", SimpleNamespace(token_hex=lambda _, made=made: made))
            assert submit(services, team, system=system).id == made


def wait_until_some_wait(database: Database, some: int = 1, seconds: float = 60) -> None:
    """Return once so many wait in the database for what another holds."""
    waiting = "datname = current_database() AND wait_event_type = 'Lock'"
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with database.engine.connect() as connection:
            if connection.scalar(text(f"SELECT count(*) FROM pg_stat_activity WHERE {waiting}")) == some:
                return
        time.sleep(0.02)
    raise AssertionError(f"there were no {some} that waited")
