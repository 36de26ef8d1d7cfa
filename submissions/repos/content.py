"""The content of files: where it lies, git's name for it, and how it gets into the blobs under a limit."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from typing import BinaryIO, cast

from core.errors import InvalidInput, TooLarge
from core.ports import Blobs


@dataclass(frozen=True, slots=True)
class Content:
    """`blob` is the sha256 of the bytes, `oid` git's hash of them, `size` their number."""

    blob: str
    oid: str
    size: int


def keep(blobs: Blobs, data: bytes) -> Content:
    """Store bytes at hand."""
    oid = _git_hash(len(data))
    oid.update(data)
    return Content(blobs.put(io.BytesIO(data)), oid.hexdigest(), len(data))


def keep_stream(blobs: Blobs, stream: BinaryIO, sha256: str, size: int) -> Content:
    """Store a stream that was announced as `size` bytes with this digest.

    Reading stops at the first byte too many. Raises `TooLarge` for more bytes and `InvalidInput` for fewer or for
    other content; neither leaves anything behind.
    """
    checked = _Checked(stream, sha256, size)
    blob = blobs.put(cast(BinaryIO, checked))
    return Content(blob, checked.oid.hexdigest(), size)


class _Checked:
    """A stream that fails before its end is reached if it is not what was announced."""

    def __init__(self, stream: BinaryIO, sha256: str, size: int) -> None:
        self._stream, self._sha256, self._size = stream, sha256, size
        self._digest, self._read = hashlib.sha256(), 0
        self.oid = _git_hash(size)

    def read(self, amount: int = -1) -> bytes:
        piece = self._stream.read(min(amount, 1 << 20) if amount >= 0 else 1 << 20)
        self._read += len(piece)
        if self._read > self._size:
            raise TooLarge(f"More than the announced {self._size:,} bytes were sent.", "Send the file again.")
        self._digest.update(piece)
        self.oid.update(piece)
        if not piece and (self._read, self._digest.hexdigest()) != (self._size, self._sha256):
            raise InvalidInput(
                f"What arrived is not the announced content: {self._read:,} of {self._size:,} bytes, "
                f"sha256 {self._digest.hexdigest()}.",
                "Send the file again.",
            )
        return piece


def _git_hash(size: int) -> hashlib._Hash:
    return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
