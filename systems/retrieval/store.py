"""Index folders named by what they hold: built once under a lock, resumed after a stop, there whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from core.errors import NotFound, Unavailable
from core.text import hash_key

MANIFEST = "manifest.json"
Progress = Callable[[int, int], None]


def silent(done: int, total: int) -> None:
    """A progress that tells nobody."""


@dataclass(frozen=True)
class IndexStore:
    """The folder of all indexes; an index's address is its kind and the hash of corpus digest and settings."""

    folder: Path

    def path(self, kind: str, corpus_digest: str, settings: Mapping[str, Any]) -> Path:
        """Where the index of these settings stands, or will."""
        canonical = orjson.dumps(dict(settings), option=orjson.OPT_SORT_KEYS).decode()
        return self.folder / f"{kind}-{hash_key(corpus_digest, canonical).hex()}"

    def ensure(
        self,
        kind: str,
        corpus_digest: str,
        settings: Mapping[str, Any],
        build: Callable[[Path], Mapping[str, Any]],
    ) -> Path:
        """The index's folder, building it first if it is not there.

        `build` fills a folder that may hold what an earlier, stopped build left, and returns what to tell of the
        index. Who comes while another process builds waits for it. Raises `Unavailable` where it cannot be written.
        """
        path = self.path(kind, corpus_digest, settings)
        if (path / MANIFEST).is_file():
            return path
        from filelock import FileLock

        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with FileLock(path.with_suffix(".lock")):
                if not (path / MANIFEST).is_file():
                    partial = path.with_suffix(".partial")
                    partial.mkdir(exist_ok=True)
                    told = dict(build(partial))
                    write_json(partial / MANIFEST, {"corpus": corpus_digest, "settings": dict(settings), **told})
                    os.replace(partial, path)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            why = "its disk is full" if full else str(error)
            raise Unavailable(
                f"The {kind} index could not be written in {self.folder}: {why}.",
                f"{'Make room' if full else 'Mend that'} and run again; what was built so far is kept.",
            ) from error
        return path


def read_manifest(path: Path) -> dict[str, Any]:
    """What was told of an index. Raises `NotFound` for a folder that holds none."""
    try:
        manifest: dict[str, Any] = orjson.loads((path / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise NotFound(f"There is no index at {path}.", "Build it again.") from None
    return manifest


def reserve(path: Path) -> None:
    """Have the disk hold all of a file that is to be filled through a map.

    On a full disk this raises `OSError`; a write through a map would end the whole process.
    """
    with path.open("r+b") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file that is there whole or not at all, also after a power cut."""
    partial = path.with_name(path.name + ".writing")
    with partial.open("wb") as file:
        file.write(orjson.dumps(value, option=orjson.OPT_INDENT_2))
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)
