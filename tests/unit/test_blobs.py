"""The contract of every blob store; S3 joins by a line in `STORES`."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from core.blobs import LocalBlobs
from core.errors import InvalidInput, NotFound
from core.ports import Blobs

STORES: dict[str, Callable[[Path], Blobs]] = {"local": lambda folder: LocalBlobs(folder / "blobs")}


@pytest.fixture(params=list(STORES))
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    return STORES[request.param](tmp_path)


@pytest.mark.parametrize("content", [b"", b"a", b"\x00\xff" * 3_000_000])
def test_what_is_put_comes_back(blobs: Blobs, content: bytes) -> None:
    key = blobs.put(io.BytesIO(content))
    assert key == hashlib.sha256(content).hexdigest()
    with blobs.open(key) as stream:
        assert stream.read() == content
    assert blobs.size(key) == len(content)
    assert blobs.exists(key)


def test_putting_twice_keeps_one(blobs: Blobs) -> None:
    assert blobs.put(io.BytesIO(b"x")) == blobs.put(io.BytesIO(b"x"))
    assert len(list(blobs.keys())) == 1


def test_a_missing_blob_is_said_to_be_missing(blobs: Blobs) -> None:
    key = "0" * 64
    assert not blobs.exists(key)
    with pytest.raises(NotFound):
        blobs.open(key)
    with pytest.raises(NotFound):
        blobs.size(key)
    blobs.delete(key)


def test_deleted_is_gone(blobs: Blobs) -> None:
    key = blobs.put(io.BytesIO(b"x"))
    blobs.delete(key)
    assert not blobs.exists(key)
    assert list(blobs.keys()) == []


@pytest.mark.parametrize("key", ["../../etc/passwd", "", "A" * 64, "a" * 63, "a" * 64 + "\n"])
def test_only_digests_are_keys(blobs: Blobs, key: str) -> None:
    with pytest.raises(InvalidInput):
        blobs.open(key)


def test_a_broken_upload_leaves_nothing(blobs: Blobs) -> None:
    class Broken(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise OSError("the line went dead")

    with pytest.raises(OSError, match="went dead"):
        blobs.put(Broken())
    assert list(blobs.keys()) == []


def test_nothing_half_written_lies_about(tmp_path: Path) -> None:
    store = LocalBlobs(tmp_path)
    store.put(io.BytesIO(b"x"))
    assert [path for path in tmp_path.iterdir() if path.is_file()] == []
