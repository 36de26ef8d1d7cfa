"""Downloads of large files that go on where they stopped, and are checked before they count."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from core.errors import Refused, Unavailable

_ATTEMPTS = 5
_TIMEOUT = httpx.Timeout(60.0, connect=20.0)
_TOTAL = re.compile(r"bytes (?:\d+-\d+|\*)/(\d+)")
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """What a server says of a file before it is fetched; `size` in bytes, None where it does not say."""

    url: str
    size: int | None
    tag: str
    md5: str | None
    """Hexadecimal, where the server gives one (Google Cloud Storage does)."""


def look_up(url: str) -> RemoteFile:
    """Ask for a file's size and tag. Raises `Unavailable`."""
    with _reaching(url):
        answer = httpx.head(url, follow_redirects=True, timeout=_TIMEOUT, headers={"Accept-Encoding": "identity"})
    _check_status(answer, url)
    size = answer.headers.get("Content-Length")
    return RemoteFile(url, int(size) if size else None, answer.headers.get("ETag", ""), _md5(answer.headers))


def fetch(
    remote: RemoteFile,
    target: Path,
    progress: Progress = lambda done, total: None,
    sha256: str = "",
    pause: Callable[[float], None] = time.sleep,
) -> bool:
    """Bring `remote` to `target`; returns False if it was there already.

    What an earlier try left in `target.part` is kept if the server still has the same file. A cut connection is
    taken up again; five tries in a row without a single new byte give up. `progress` gets bytes done and in all.
    Raises `Unavailable`, and `Refused` if size or checksum are not as they should be.
    """
    part, tag = Path(f"{target}.part"), Path(f"{target}.part.json")
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_file() and (remote.size is None or target.stat().st_size == remote.size):
        _check(target, remote, sha256)
        return False
    if not _same_file(tag, remote):
        part.unlink(missing_ok=True)
        tag.write_text(json.dumps({"url": remote.url, "size": remote.size, "tag": remote.tag}))
    idle = 0
    while not _is_whole(part, remote):
        before = _size(part)
        failure = _try(remote, part, progress)
        if failure is None and remote.size is None:
            break  # the server ended its answer in good order and named no size to compare with
        idle = 0 if _size(part) > before else idle + 1
        if idle >= _ATTEMPTS:
            raise failure or Unavailable(f"{remote.url} sends nothing more.", "Run the command again later.")
        if not _is_whole(part, remote):
            pause(min(30.0, 2.0**idle))
    _check(part, remote, sha256)
    os.replace(part, target)
    tag.unlink(missing_ok=True)
    return True


def _try(remote: RemoteFile, part: Path, progress: Progress) -> Unavailable | None:
    try:
        with _reaching(remote.url):
            _go_on(remote, part, progress)
    except Unavailable as error:
        return error
    return None


def _go_on(remote: RemoteFile, part: Path, progress: Progress) -> None:
    """Append what is missing, as it arrives."""
    have = _size(part)
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
        if remote.tag and not remote.tag.startswith("W/"):
            headers["If-Range"] = remote.tag
    with httpx.stream("GET", remote.url, headers=headers, follow_redirects=True, timeout=_TIMEOUT) as answer:
        _check_status(answer, remote.url)
        if have and answer.status_code != 206:
            have = 0  # no ranges here, or another file by now: from the beginning
        found = _TOTAL.fullmatch(answer.headers.get("Content-Range", ""))
        if found and remote.size is not None and int(found.group(1)) != remote.size:
            raise Refused(f"{remote.url} changed while it was fetched.", "Run the command again.")
        with part.open("ab" if have else "wb") as file:
            for piece in answer.iter_raw():
                file.write(piece)
                have += len(piece)
                progress(have, remote.size or have)


def _check(file: Path, remote: RemoteFile, sha256: str) -> None:
    size = file.stat().st_size
    if remote.size is not None and size != remote.size:
        _refuse(file, f"it has {size:,} bytes instead of {remote.size:,}")
    for name, expected in (("sha256", sha256), ("md5", remote.md5)):
        if expected and (found := _digest(file, name)) != expected.lower():
            _refuse(file, f"its {name} is {found} instead of {expected.lower()}")


def _refuse(file: Path, why: str) -> None:
    file.unlink()
    raise Refused(f"The downloaded file is damaged or another one: {why}. It was deleted.", "Run the command again.")


def _digest(file: Path, name: str) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, name).hexdigest()


def _same_file(tag: Path, remote: RemoteFile) -> bool:
    try:
        noted = json.loads(tag.read_text())
    except (OSError, ValueError):
        return False
    return bool(noted == {"url": remote.url, "size": remote.size, "tag": remote.tag})


def _is_whole(part: Path, remote: RemoteFile) -> bool:
    return remote.size is not None and _size(part) >= remote.size


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _md5(headers: httpx.Headers) -> str | None:
    hashes = dict(part.strip().partition("=")[::2] for part in headers.get("x-goog-hash", "").split(","))
    given = hashes.get("md5") or headers.get("Content-MD5")
    return base64.b64decode(given).hex() if given else None


def _check_status(answer: httpx.Response, url: str) -> None:
    if not answer.is_success:
        raise Unavailable(f"{url} answered {answer.status_code} {answer.reason_phrase}.", "Check the address.")


@contextmanager
def _reaching(url: str) -> Iterator[None]:
    try:
        yield
    except httpx.HTTPError as error:
        raise Unavailable(
            f"{url} cannot be read: {error or type(error).__name__}.",
            "Check the network; the command goes on where it stopped.",
        ) from error
