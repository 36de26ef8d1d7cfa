"""Boards and scored outputs as a dataset on the Hub, in few commits; a dated snapshot a day."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from core.errors import InvalidInput
from leaderboard import board, exports
from leaderboard import snapshots as stored
from leaderboard.records import Board
from scorer.outputs import from_stored, write_all
from server import snapshots
from server.bootstrap import Services
from server.results import source_of
from submissions.sources.hub import Hub

_MOST_FILES, _MOST_BYTES = 100, 32 * 2**20
_README = """---
pretty_name: Attributed question answering, scored
tags: [attribution, question-answering, leaderboard]
---
# Attributed question answering, scored

Written by a leaderboard service; changes made here by hand are overwritten.

- `BENCHMARK/leaderboard.json`, `.csv`, `.parquet`: the board as it is now, every number with interval, n and signature.
- `BENCHMARK/snapshots/DATE.json`: the first snapshot that the service kept on that day (UTC), or, where the board had
  not changed, the one before; as the service gives it out, with the names of the day it was published. Never changed.
- `BENCHMARK/submissions/ID/`: `scores.json`, `examples.parquet` (question by question) and `manifest.json` (what it
  takes to replay the evaluation) of each entry on the board. Entries that leave the board leave this folder.
"""


@dataclass(frozen=True, slots=True)
class Published:
    """The commits made, and how many files they wrote and removed."""

    commits: tuple[str, ...]
    written: int
    removed: int


def publish_boards(services: Services, hub: Hub, repo: str, day: date) -> Published:
    """Bring a dataset repository up to date with all boards; what is there already is not sent again.

    Raises `InvalidInput` without a repository, and as `Hub`.
    """
    if not repo:
        raise InvalidInput("Publish to which repository?", "Set AQA_PUBLISH_REPO, or name one with --repo.")
    hub.create(repo)
    there = {file.path: file.content for file in hub.files(repo, hub.commit_of(repo))}
    commits, batch, wanted, written = list[str](), dict[str, bytes](), set[str](), 0
    for path, data in _files(services, day):
        wanted.add(path)
        if _same(there.get(path), data) or ("/snapshots/" in path and path in there):
            continue
        batch[path] = data
        written += 1
        if len(batch) >= _MOST_FILES or sum(map(len, batch.values())) >= _MOST_BYTES:
            commits.append(hub.commit(repo, batch, [], f"Publish the boards of {day}"))
            batch = {}
    left = [path for path in there if "/submissions/" in path and path not in wanted]
    if batch or left:
        commits.append(hub.commit(repo, batch, left, f"Publish the boards of {day}"))
    return Published(tuple(commits), written, len(left))


def _files(services: Services, day: date) -> Iterator[tuple[str, bytes]]:
    """All files of the dataset, one in memory at a time; the board last, so that what it names is there."""
    yield "README.md", _README.encode()
    for benchmark in services.benchmarks.all():
        with services.database.reading() as session:
            found = board.rows(session, benchmark.id)
        yield from _entries(services, found)
        for kind in exports.KINDS:
            yield f"{benchmark.id}/leaderboard.{kind}", exports.export(found, kind)[0]
        if (held := _snapshot(services, benchmark.id, day)) is not None:
            yield f"{benchmark.id}/snapshots/{day.isoformat()}.json", exports.export(held, "json")[0]


def _snapshot(services: Services, benchmark_id: str, day: date) -> Board | None:
    """The board that is stored for a day, taken now where that day has none; None of one that was always empty."""
    with services.database.reading() as session:
        if (found := stored.of_day(session, benchmark_id, day)) is not None:
            return stored.restore(session, found)
    snapshots.keep(services.database, benchmark_id)
    with services.database.reading() as session:
        newest = stored.newest(session, benchmark_id)
        return stored.restore(session, newest) if newest else None


def _entries(services: Services, found: Board) -> Iterator[tuple[str, bytes]]:
    for row in found.rows:
        submission = row.entry.submission
        outputs = from_stored(services.database, services.benchmarks, submission)
        with tempfile.TemporaryDirectory() as folder:
            write_all(outputs, Path(folder), source_of(services, submission), ("parquet",))
            for name in ("scores.json", "examples.parquet", "manifest.json"):
                yield f"{found.benchmark}/submissions/{submission}/{name}", (Path(folder) / name).read_bytes()


def _same(content: str | None, data: bytes) -> bool:
    """True if the Hub's hash is of these bytes: git's for small files, sha256 for large ones."""
    git = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    return content in (git, hashlib.sha256(data).hexdigest())
