"""A backup brings back everything or nothing, on both databases."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from core.blobs import LocalBlobs
from core.errors import Conflict, InvalidInput, Refused
from core.tables import Submission
from scorer.stored import read_scores, read_values
from server.backup import MANIFEST, backup, restore, verify
from server.bootstrap import Services, build
from server.worker import Worker
from tests.small_benchmark import add_benchmark, add_team, submit


@pytest.fixture
def submission(services: Services, tmp_path: Path) -> Submission:
    add_benchmark(services, tmp_path / "files")
    sent = submit(services, add_team(services), publish=True)
    Worker(services).run_until_idle()
    return sent


@pytest.fixture
def empty(services: Services, tmp_path: Path) -> Iterator[Services]:
    """Another service without a single table."""
    if services.database.is_sqlite:
        url = ""
    else:
        if shutil.which("pg_dump") is None:
            pytest.skip("no pg_dump on this machine")
        url = services.database.url.set(database=f"{services.database.url.database}_r").render_as_string(False)
        _sql(services, f"CREATE DATABASE {services.database.url.database}_r")
    made = build(dataclasses.replace(services.settings, data_dir=str(tmp_path / "restored"), database_url=url))
    yield made
    made.database.engine.dispose()
    if not services.database.is_sqlite:
        _sql(services, f"DROP DATABASE {services.database.url.database}_r WITH (FORCE)")


def _sql(services: Services, statement: str) -> None:
    with services.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(statement))


def test_everything_comes_back(services: Services, submission: Submission, empty: Services, tmp_path: Path) -> None:
    held = backup(services, tmp_path / "backup")
    assert held.blobs == len(list(services.blobs.keys())) > 0
    assert verify(tmp_path / "backup") == held
    restore(empty, tmp_path / "backup")
    assert list(empty.blobs.keys()) == list(services.blobs.keys())
    with services.database.reading() as one, empty.database.reading() as two:
        left, right = (s.get_one(Submission, submission.id) for s in (one, two))
        assert (left.state, left.digest, left.published_at) == ("scored", right.digest, right.published_at)
        assert read_scores(one, left.evaluation_id) == read_scores(two, right.evaluation_id)
        values = [read_values(s, row.evaluation_id, "autoais_p").tobytes() for s, row in ((one, left), (two, right))]
        assert values[0] == values[1]
    again = submit(empty, add_team(empty, "new team"), system="new")
    Worker(empty).run_until_idle()
    with empty.database.reading() as session:
        assert session.get_one(Submission, again.id).state == "scored", "corpora and sequences are there too"


def test_a_changed_file_is_found_and_nothing_restored(
    services: Services, submission: Submission, empty: Services, tmp_path: Path
) -> None:
    held = backup(services, tmp_path / "backup")
    for name in held.files:
        path = tmp_path / "backup" / name
        plain = path.read_bytes()
        path.write_bytes(plain[:-1] + bytes([plain[-1] ^ 1]))
        with pytest.raises(Refused, match=path.name):
            restore(empty, tmp_path / "backup")
        path.write_bytes(plain)
    assert empty.database.revision() is None
    (tmp_path / "backup" / MANIFEST).unlink()
    with pytest.raises(InvalidInput):
        verify(tmp_path / "backup")


def test_it_neither_overwrites_nor_keeps_quiet(services: Services, submission: Submission, tmp_path: Path) -> None:
    backup(services, tmp_path / "backup")
    with pytest.raises(Conflict, match="not empty"):
        backup(services, tmp_path / "backup")
    with pytest.raises(Conflict, match="already"):
        restore(services, tmp_path / "backup")
    assert isinstance(services.blobs, LocalBlobs)
    blob = next(path for path in services.blobs.folder.glob("??/*"))
    blob.write_bytes(b"rotten")
    with pytest.raises(Refused, match=blob.name):
        backup(services, tmp_path / "second")
    assert not (tmp_path / "second").exists(), "what was begun is gone, so the folder can be taken again"
