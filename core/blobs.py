"""Content-addressed bytes on local disk."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from core.errors import InvalidInput, NotFound, Unavailable
from core.ports import Blobs

_KEY = re.compile(r"[0-9a-f]{64}")


class LocalBlobs:
    """Blobs as files named by their sha256, two characters deep; a file is there whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, stream: BinaryIO) -> str:
        """Store a stream; the file appears by rename after its bytes are on disk.

        Raises `Unavailable` for a full disk.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        handle, name = tempfile.mkstemp(dir=self.folder, prefix="incoming-")
        try:
            with os.fdopen(handle, "wb") as file:
                while piece := stream.read(1 << 20):
                    digest.update(piece)
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
            target = self._path(digest.hexdigest())
            target.parent.mkdir(exist_ok=True)
            os.replace(name, target)
        except BaseException as error:
            Path(name).unlink(missing_ok=True)
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise Unavailable("There is no room for the file on our disk.", "Try again later.") from error
            raise
        return digest.hexdigest()

    def open(self, key: str, start: int = 0) -> BinaryIO:
        """A readable stream from a byte on. Raises `NotFound`."""
        try:
            stream = self._path(key).open("rb")
        except FileNotFoundError:
            raise NotFound(f"There is no blob {key}.") from None
        stream.seek(start)
        return stream

    def exists(self, key: str) -> bool:
        """True if the content is stored."""
        return self._path(key).is_file()

    def size(self, key: str) -> int:
        """Bytes. Raises `NotFound`."""
        try:
            return self._path(key).stat().st_size
        except FileNotFoundError:
            raise NotFound(f"There is no blob {key}.") from None

    def delete(self, key: str) -> None:
        """Remove; removing what is not there is harmless."""
        self._path(key).unlink(missing_ok=True)

    def keys(self) -> Iterator[str]:
        """All keys, sorted."""
        return (path.name for path in sorted(self.folder.glob("??/*")) if _KEY.fullmatch(path.name))

    def link(self, key: str, file_name: str) -> str | None:
        """None: files of this disk are reached through the service alone."""
        return None

    def _path(self, key: str) -> Path:
        return self.folder / check_key(key)[:2] / key


def check_key(key: str) -> str:
    """The key itself. Raises `InvalidInput` for anything but a digest, so that no key leads out of the store."""
    if not _KEY.fullmatch(key):
        raise InvalidInput(f"{key[:80]!r} is not a blob key.", "Keys are sha256 digests in hexadecimal.")
    return key


def open_blobs(url: str, local_folder: Path, endpoint: str = "", public_endpoint: str = "") -> Blobs:
    """The store that a setting names: empty for local files, else `s3://BUCKET/PREFIX`.

    `public_endpoint` is where users reach an S3 server that the service reaches elsewhere.
    """
    if not url:
        return LocalBlobs(local_folder)
    from core.s3_blobs import S3Blobs

    return S3Blobs(url, endpoint, public_endpoint)
