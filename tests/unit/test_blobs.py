"""The contract of every blob store, run against each."""

from __future__ import annotations

import hashlib
import io
import secrets
import urllib.request
from pathlib import Path

import pytest

from core.blobs import LocalBlobs, open_blobs
from core.errors import InvalidInput, NotFound
from core.ports import Blobs
from core.s3_blobs import S3Blobs


def local(request: pytest.FixtureRequest) -> Blobs:
    return open_blobs("", request.getfixturevalue("tmp_path") / "blobs")


def s3(request: pytest.FixtureRequest) -> Blobs:
    endpoint = request.getfixturevalue("s3_endpoint")
    return open_blobs(f"s3://aqa-blobs/{secrets.token_hex(6)}", Path(), endpoint)


STORES = {"local": local, "s3": s3}


@pytest.fixture(params=["local", pytest.param("s3", marks=pytest.mark.service)])
def blobs(request: pytest.FixtureRequest) -> Blobs:
    return STORES[request.param](request)


@pytest.mark.parametrize("content", [b"", b"a", b"\x00\xff" * 6_000_000])
def test_what_is_put_comes_back(blobs: Blobs, content: bytes) -> None:
    key = blobs.put(io.BytesIO(content))
    assert key == hashlib.sha256(content).hexdigest()
    with blobs.open(key) as stream:
        assert stream.read() == content
    assert blobs.size(key) == len(content)
    assert blobs.exists(key)


def test_a_blob_is_read_from_a_byte_on(blobs: Blobs) -> None:
    key = blobs.put(io.BytesIO(b"one\ntwo\n"))
    for start, rest in ((0, b"one\ntwo\n"), (4, b"two\n")):
        with blobs.open(key, start) as stream:
            assert stream.read() == rest


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


@pytest.mark.service
def test_a_presigned_link_downloads_under_a_safe_name(s3_endpoint: str) -> None:
    prefix = f"s3://aqa-blobs/{secrets.token_hex(6)}"
    store = S3Blobs(prefix, s3_endpoint, s3_endpoint)
    assert S3Blobs(prefix, s3_endpoint).link("0" * 64, "x") is None, "nobody knows how users reach that server"
    link = store.link(store.put(io.BytesIO(b"content")), 'a "nasty"\r\nname.csv')
    with urllib.request.urlopen(link) as answer:
        assert answer.read() == b"content"
        assert answer.headers["Content-Disposition"] in (None, 'attachment; filename="anastyname.csv"')
    assert str(S3Blobs("s3://aqa-blobs").link("0" * 64, "x")).startswith("https://aqa-blobs.s3."), "Amazon's is known"


@pytest.mark.parametrize("url", ["s3://", "http://x/y", "bucket"])
def test_a_wrong_address_is_named(url: str) -> None:
    with pytest.raises(InvalidInput, match="S3 address"):
        open_blobs(url, Path())
