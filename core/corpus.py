"""A corpus: passage id → title, headings, text, in one read-only SQLite file, looked up by key, never scanned."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sqlite3
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import orjson

from core.errors import NotFound, Refused, Unavailable
from core.records import Passage, Place
from core.text import canonical_attribution, hash_key

_SCHEMA = """
CREATE TABLE passage (row INTEGER PRIMARY KEY, key INTEGER NOT NULL, id TEXT NOT NULL, contents TEXT NOT NULL);
CREATE TABLE about (digest TEXT NOT NULL, size INTEGER NOT NULL);
"""
_BATCH = 400
_MAX_PLACES = 20


def parse_contents(contents: str) -> tuple[str, str, str] | None:
    """Split `« title » « headings » text` into its three parts; None if it is not of that form.

    Headings repeat the title, which tells where a title that itself holds guillemets ends.
    """
    if not contents.startswith("« "):
        return None
    start = 2
    first: tuple[str, str, str] | None = None
    while (end := contents.find(" » « ", start)) != -1:
        title, rest = contents[2:end], contents[end + 5 :]
        repeats = rest.startswith(title)
        stop = rest.find(" »", len(title) if repeats else 0)
        if stop != -1 and rest[stop + 2 : stop + 3] in ("", " ", "\n"):
            parts = title, rest[:stop], rest[stop + 3 :]
            if repeats:
                return parts
            first = first or parts
        start = end + 1
    return first


class Corpus:
    """An opened corpus file; cheap to open, safe to share between threads."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise NotFound(
                f"The corpus file {path.name} is missing.",
                "Add the benchmark again, or restore its data folder.",
            )
        self._name = path.name
        self._connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True, check_same_thread=False)
        # No mmap: where a lookup touches thousands of pages, faulting each in costs more than reading it.
        self.digest, self.size = next(self._rows("SELECT digest, size FROM about"))

    def resolve(self, attributions: Sequence[str]) -> dict[str, str | None]:
        """The corpus id each attribution means: exact, else alike once decoded, if only one is; else None."""
        wanted = {a: canonical_attribution(a) for a in dict.fromkeys(attributions)}
        found = self._candidates(wanted.values())
        return {a: _pick(a, canonical, found.get(canonical, ())) for a, canonical in wanted.items()}

    def passages(self, ids: Iterable[str]) -> dict[str, Passage]:
        """The passages of the given exact ids; unknown ids are left out."""
        by_key: dict[int, list[str]] = {}
        for identifier in dict.fromkeys(ids):
            by_key.setdefault(_key(canonical_attribution(identifier)), []).append(identifier)
        found: dict[str, Passage] = {}
        for keys in _batches(list(by_key)):
            marks = ",".join("?" * len(keys))
            query = f"SELECT key, id, contents FROM passage INDEXED BY passage_key WHERE key IN ({marks})"
            for key, identifier, contents in self._rows(query, keys):
                if identifier in by_key[key]:
                    found[identifier] = _passage(identifier, contents)
        return found

    def scan(self) -> Iterator[Passage]:
        """All passages in the order of their files; for building indexes only."""
        for identifier, contents in self._rows("SELECT id, contents FROM passage ORDER BY row"):
            yield _passage(identifier, contents)

    def scan_rows(self, after: int = 0) -> Iterator[tuple[int, Passage]]:
        """As `scan`, from behind a row on, each passage with its row: what indexes keep instead of ids."""
        query = "SELECT row, id, contents FROM passage WHERE row > ? ORDER BY row"
        for row, identifier, contents in self._rows(query, (after,)):
            yield row, _passage(identifier, contents)

    def at(self, rows: Iterable[int]) -> dict[int, Passage]:
        """The passages at the given rows."""
        found: dict[int, Passage] = {}
        for batch in _batches(list(dict.fromkeys(rows))):
            query = f"SELECT row, id, contents FROM passage WHERE row IN ({','.join('?' * len(batch))})"
            for row, identifier, contents in self._rows(query, batch):
                found[row] = _passage(identifier, contents)
        return found

    def close(self) -> None:
        """Let the file go."""
        self._connection.close()

    def _rows(self, query: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._connection.execute(query, values)
        except sqlite3.DatabaseError as error:
            raise Unavailable(
                f"The corpus file {self._name} is damaged: {error}.", "Add the benchmark again: its id and scores stay."
            ) from error

    def _candidates(self, canonicals: Iterable[str]) -> dict[str, list[str]]:
        keys = sorted({_key(canonical) for canonical in canonicals})
        found: dict[str, list[str]] = {}
        for batch in _batches(keys):
            query = f"SELECT id FROM passage WHERE key IN ({','.join('?' * len(batch))})"
            for (identifier,) in self._rows(query, batch):
                found.setdefault(canonical_attribution(identifier), []).append(identifier)
        return found


def build(
    shards: Sequence[Path], folder: Path, progress: Callable[[int, int], None] = lambda done, total: None
) -> tuple[str, int]:
    """Stream JSONL shards (plain, .gz or .zip) into `folder/DIGEST.sqlite`; returns (digest, passages).

    `progress` gets bytes read and bytes in all. Memory does not grow with the corpus.
    Raises `Refused` naming the bad lines: not JSON, no id, not of the corpus format, one id with two texts.
    """
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f"building-{os.getpid()}.sqlite"
    partial.unlink(missing_ok=True)
    connection = sqlite3.connect(partial, isolation_level=None)
    try:
        connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536;" + _SCHEMA)
        connection.execute("BEGIN")
        bad: list[Place] = []
        rows = _rows(shards, bad, progress)
        connection.executemany("INSERT INTO passage (key, id, contents) VALUES (?, ?, ?)", rows)
        _refuse_if(bad)
        connection.execute("CREATE INDEX passage_key ON passage (key, id)")
        _drop_repeats(connection)
        digest, size = _digest(connection)
        connection.execute("INSERT INTO about VALUES (?, ?)", (digest, size))
        connection.execute("COMMIT")
        connection.close()
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(partial, folder / f"{digest}.sqlite")
        return digest, size
    finally:
        connection.close()
        partial.unlink(missing_ok=True)


def _rows(
    shards: Sequence[Path], bad: list[Place], progress: Callable[[int, int], None]
) -> Iterator[tuple[int, str, str]]:
    total, done = sum(path.stat().st_size for path in shards), 0
    for path in shards:
        with path.open("rb") as file, _readable(path.name):
            for number, line in enumerate(_lines(file, path.name), start=1):
                row = _row(line, number, path.name, bad)
                if row is not None:
                    yield row
                if number % 20_000 == 0:
                    progress(done + file.tell(), total)
        done += path.stat().st_size
        progress(done, total)


@contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise Refused(f"{name} cannot be unpacked: {error}.", "Fetch or pack the file again.") from error


def _row(line: bytes, number: int, name: str, bad: list[Place]) -> tuple[int, str, str] | None:
    """What is stored of a line; None for a blank one, and for a bad one, which is noted."""
    if not line.strip():
        return None
    try:
        entry = orjson.loads(line)
        identifier, contents = entry["id"], entry["contents"]
        if not (isinstance(identifier, str) and identifier and isinstance(contents, str)):
            raise TypeError
        if "\0" in identifier:  # PostgreSQL could not store whoever cites it
            raise TypeError
    except (orjson.JSONDecodeError, KeyError, TypeError):
        _note(bad, number, f'{name}: not a JSON object with text under "id" and "contents"', line)
        return None
    if parse_contents(contents) is None:
        _note(bad, number, f"{name}: contents are not of the form « title » « headings » text", line)
        return None
    return _key(canonical_attribution(identifier)), identifier, contents


def _lines(file: IO[bytes], name: str) -> Iterator[bytes]:
    if name.endswith(".zip"):
        with zipfile.ZipFile(file) as archive:
            for member_name in sorted(archive.namelist()):
                if not member_name.endswith("/"):
                    with archive.open(member_name) as member, _unpacked(member, member_name) as lines:
                        yield from lines
    else:
        with _unpacked(file, name) as lines:
            yield from lines


@contextmanager
def _unpacked(file: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    if name.endswith(".gz"):
        with gzip.GzipFile(fileobj=file) as unzipped:
            yield io.BufferedReader(unzipped)
    else:
        yield file


def _drop_repeats(connection: sqlite3.Connection) -> None:
    """Keep one of several equal passages; refuse an id that stands for two texts."""
    repeated = connection.execute("SELECT key, id FROM passage GROUP BY key, id HAVING COUNT(*) > 1").fetchall()
    bad: list[Place] = []
    for key, identifier in repeated:
        rows = connection.execute(
            "SELECT row, contents FROM passage WHERE key = ? AND id = ? ORDER BY row", (key, identifier)
        ).fetchall()
        if len({contents for _, contents in rows}) > 1:
            _note(bad, None, "one id with different texts", identifier.encode())
        connection.executemany("DELETE FROM passage WHERE row = ?", [(row,) for row, _ in rows[1:]])
    _refuse_if(bad)


def _digest(connection: sqlite3.Connection) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    for identifier, contents in connection.execute("SELECT id, contents FROM passage ORDER BY row"):
        digest.update(hash_key(identifier, contents, size=32))
        size += 1
    if size == 0:
        raise Refused("The corpus holds no passage.", "Give at least one JSONL file with one passage a line.")
    return digest.hexdigest(), size


def _pick(attribution: str, canonical: str, candidates: Sequence[str]) -> str | None:
    if attribution in candidates:
        return attribution
    return candidates[0] if len(candidates) == 1 else None


def _passage(identifier: str, contents: str) -> Passage:
    parts = parse_contents(contents)
    if parts is None:  # refused at build, so the file was changed behind our back
        raise NotFound(f"The passage {identifier!r} in the corpus file is damaged.")
    return Passage(identifier, *parts)


def _key(canonical: str) -> int:
    return int.from_bytes(hash_key(canonical, size=8), "little", signed=True)


def _batches(keys: list[int]) -> Iterator[list[int]]:
    return (keys[start : start + _BATCH] for start in range(0, len(keys), _BATCH))


def _note(bad: list[Place], row: int | None, message: str, excerpt: bytes) -> None:
    if len(bad) < _MAX_PLACES:
        bad.append(Place(row, "corpus", message, excerpt[:80].decode("utf-8", "replace")))


def _refuse_if(bad: list[Place]) -> None:
    if bad:
        raise Refused(
            f"The corpus was refused; the first of its faults: {bad[0].message} ({bad[0].excerpt!r}).",
            "Mend the lines named and add the benchmark again.",
            tuple(bad),
        )
