"""A team's deletion and another's upload of the same bytes at the same moment: the other's file stays, in any order."""

from __future__ import annotations

import hashlib
import io
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from core.blob_keeping import ensure, hold
from core.errors import Unavailable
from core.tables import Submission
from server import deletion, pieces
from server.bootstrap import Services
from server.deletion import delete_team, drop_unused
from submissions.intake import SystemCard
from tests.small_benchmark import GOOD, add_benchmark, add_team, jsonl

FILE = jsonl(GOOD)
BLOB = hashlib.sha256(FILE).hexdigest()


@pytest.fixture
def ready(services: Services, tmp_path: Path) -> Services:
    add_benchmark(services, tmp_path / "files")
    return services


def accept(services: Services, team: int, name: str = "S") -> Submission:
    return services.intake.accept(team, "small", SystemCard(name), io.BytesIO(FILE), "a.jsonl")


def in_thread(what: Callable[[], object], raised: list[BaseException]) -> threading.Thread:
    def run() -> None:
        try:
            what()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_removed_after_it_was_stored_and_before_it_was_entered(
    ready: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = add_team(ready, "first"), add_team(ready, "second")
    accept(ready, first)
    put, raced = ready.blobs.put, list[object]()

    def slow(stream: object) -> str:
        key = put(stream)  # type: ignore[arg-type]
        if not raced:
            raced.append(delete_team(ready, first))
        return key

    monkeypatch.setattr(ready.blobs, "put", slow)
    made = accept(ready, second)
    assert len(raced) == 1
    assert made.file_blob == BLOB
    with ready.blobs.open(BLOB) as stream:
        assert stream.read() == FILE


def test_entered_while_the_deletion_is_about_to_remove_it(ready: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = add_team(ready, "first"), add_team(ready, "second")
    accept(ready, first)
    found_unused, go_on, raised = threading.Event(), threading.Event(), list[BaseException]()
    used = deletion._used

    def looked(session: object, blob: str) -> bool:
        answer = used(session, blob)  # type: ignore[arg-type]
        found_unused.set()
        assert go_on.wait(60)
        return answer

    monkeypatch.setattr(deletion, "_used", looked)
    deleting = in_thread(lambda: delete_team(ready, first), raised)
    assert found_unused.wait(60)
    entering = in_thread(lambda: accept(ready, second), raised)
    entering.join(1.0)
    assert entering.is_alive(), "it waits until the deletion has decided"
    go_on.set()
    deleting.join(30), entering.join(30)
    assert raised == []
    with ready.blobs.open(BLOB) as stream:
        assert stream.read() == FILE


def test_what_another_needs_by_then_stays(ready: Services) -> None:
    first, second = add_team(ready, "first"), add_team(ready, "second")
    accept(ready, first), accept(ready, second)
    assert delete_team(ready, first).blobs == 0
    assert ready.blobs.exists(BLOB)
    assert delete_team(ready, second).blobs == 1
    assert not ready.blobs.exists(BLOB)


def test_many_at_once(ready: Services) -> None:
    """Teams that come and go with the same bytes: at the end every entry has its file."""
    raised, kept = list[BaseException](), list[str]()
    teams = [add_team(ready, f"team {number}") for number in range(8)]

    def come(team: int) -> None:
        kept.append(accept(ready, team).file_blob)

    def come_and_go(team: int) -> None:
        accept(ready, team)
        delete_team(ready, team)

    threads = [in_thread(lambda t=t, n=n: (come if n % 2 else come_and_go)(t), raised) for n, t in enumerate(teams)]
    for thread in threads:
        thread.join(60)
    assert raised == []
    assert kept == [BLOB] * 4
    assert ready.blobs.exists(BLOB)


def test_pieces_are_kept_too(ready: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    team, put = add_team(ready), ready.blobs.put
    upload = pieces.begin(ready, team, "a.bin", 4)

    def removed_at_once(stream: object) -> str:
        key = put(stream)  # type: ignore[arg-type]
        monkeypatch.setattr(ready.blobs, "put", put)
        drop_unused(ready, [key])
        return key

    monkeypatch.setattr(ready.blobs, "put", removed_at_once)
    pieces.take(ready, team, upload.id, "bytes 0-3/4", io.BytesIO(b"abcd"))
    with ready.blobs.open(hashlib.sha256(b"abcd").hexdigest()) as stream:
        assert stream.read() == b"abcd"


def test_without_the_bytes_at_hand_it_is_said(ready: Services) -> None:
    with pytest.raises(Unavailable, match="deletion"), ready.database.transaction() as session:
        ensure(session, ready.blobs, "0" * 64)
    with ready.database.transaction() as session:
        hold(session, "f" * 64), hold(session, "7f" * 32), hold(session, "0" * 64)
