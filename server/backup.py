"""One folder that holds a whole service: the database, the blobs, the corpora, and a digest of each file."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.blobs import LocalBlobs
from core.database import Database
from core.errors import Conflict, InvalidInput, Refused, Unavailable
from core.folders import making_folders
from core.tables.base import utc_now
from server.bootstrap import Services

MANIFEST, SQLITE, DUMP, BLOBS, CORPORA = "manifest.json", "database.sqlite", "database.dump", "blobs", "corpora"
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Held:
    """What a backup holds."""

    revision: str
    database: str
    files: dict[str, str]
    """Path in the backup → sha256, in hexadecimal."""

    @property
    def blobs(self) -> int:
        """How many blobs."""
        return sum(path.startswith(f"{BLOBS}/") for path in self.files)


def backup(services: Services, folder: Path, progress: Progress = lambda done, total: None) -> Held:
    """Write the service into a new or empty folder while it runs.

    The database comes first: whatever it names is among the blobs that are copied after it. Raises `Conflict` for a
    folder in use, `Refused` for a blob that is not what its key says, `Unavailable` without `pg_dump`. What it had
    written by then is removed, so that the same folder can be taken again.
    """
    with making_folders() as make:
        make(folder)
        if any(folder.iterdir()):
            raise Conflict(f"{folder} is not empty.", "Name a new folder.")
        try:
            return _write(services, folder, progress)
        except BaseException:
            for path in folder.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            raise


def _write(services: Services, folder: Path, progress: Progress) -> Held:
    database = SQLITE if services.database.is_sqlite else DUMP
    _dump(services.database, folder / database)
    files = {database: _sha256(folder / database)}
    copies = LocalBlobs(folder / BLOBS)
    keys = list(services.blobs.keys())
    for done, key in enumerate(keys):
        progress(done, len(keys))
        with services.blobs.open(key) as stream:
            written = copies.put(stream)
        if written != key:
            raise Refused(f"The blob {key} holds other bytes than its key says.", "Restore it from an older backup.")
        files[f"{BLOBS}/{key[:2]}/{key}"] = key
    for corpus in sorted((services.settings.data_path / CORPORA).glob("*.sqlite")):
        if not corpus.name.startswith("building-"):
            (folder / CORPORA).mkdir(exist_ok=True)
            shutil.copyfile(corpus, folder / CORPORA / corpus.name)
            files[f"{CORPORA}/{corpus.name}"] = _sha256(folder / CORPORA / corpus.name)
    held = Held(services.database.revision() or "", database, files)
    told = {"made": utc_now().isoformat(), "revision": held.revision, "database": database, "files": files}
    (folder / MANIFEST).write_text(json.dumps(told, indent=1), encoding="utf-8")
    return held


def verify(folder: Path) -> Held:
    """Check every file against its digest. Raises `InvalidInput` for no backup, `Refused` naming the first bad file."""
    try:
        told = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        held = Held(told["revision"], told["database"], told["files"])
    except (OSError, ValueError, KeyError, TypeError):
        raise InvalidInput(f"{folder} holds no whole backup.", f"A backup ends with its {MANIFEST}.") from None
    for name, digest in held.files.items():
        path = folder / name
        if ".." in Path(name).parts or not path.is_file() or _sha256(path) != digest:
            raise Refused(f"{name} is missing or changed.", "Use another backup; nothing was restored.")
    return held


def restore(services: Services, folder: Path) -> Held:
    """Bring a verified backup into an empty database and the blob store, and the database to this version.

    Raises what `verify` raises, and `Conflict` where there is a database already or it is of the other kind.
    """
    held = verify(folder)
    if services.database.revision() is not None:
        raise Conflict("There is a database already.", "Restore into a new one: set AQA_DATABASE_URL or AQA_DATA_DIR.")
    if services.database.is_sqlite != (held.database == SQLITE):
        raise Conflict(f"The backup holds {held.database}, which this kind of database cannot read.")
    for name in held.files:
        if name.startswith(f"{BLOBS}/"):
            with (folder / name).open("rb") as stream:
                services.blobs.put(stream)
        elif name.startswith(f"{CORPORA}/"):
            target = services.settings.data_path / CORPORA
            target.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / name, target / Path(name).name)
    _load(services.database, folder / held.database)
    services.database.upgrade()
    return held


def _dump(database: Database, target: Path) -> None:
    if not database.is_sqlite:
        _run(database, ["pg_dump", "--format=custom", "--no-owner", "--file", str(target), "--dbname"])
        return
    source, copy = sqlite3.connect(str(database.url.database)), sqlite3.connect(target)
    with source, copy:
        source.backup(copy)
    source.close()
    copy.close()


def _load(database: Database, source: Path) -> None:
    database.engine.dispose()
    if not database.is_sqlite:
        _run(database, ["pg_restore", "--no-owner", "--exit-on-error", str(source), "--dbname"])
        return
    target, copy = sqlite3.connect(str(database.url.database)), sqlite3.connect(source)
    with target, copy:
        copy.backup(target)
    target.close()
    copy.close()


def _run(database: Database, command: Sequence[str]) -> None:
    """Run a client program with the database's address added; the password travels in a file, not in the arguments."""
    program = shutil.which(command[0])
    if program is None:
        raise Unavailable(f"{command[0]} is not installed.", "Install PostgreSQL's client programs.")
    url = database.url.set(drivername="postgresql")
    with tempfile.NamedTemporaryFile("w", prefix="aqa-") as secret:  # only its owner can read it
        if url.password is not None:
            escaped = str(url.password).replace("\\", "\\\\").replace(":", "\\:")
            secret.write(f"*:*:*:*:{escaped}\n")
            secret.flush()
            url = url.set(password=None).update_query_dict({"passfile": secret.name})
        address = url.render_as_string(hide_password=False)
        done = subprocess.run([program, *command[1:], address], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unavailable(f"{command[0]} failed: {done.stderr.strip()[:500]}")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
