"""Large downloads: taken up where they were cut, never mixed from two files, checked before they count."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import Refused, Unavailable
from server.fetch.ranged import fetch, look_up
from tests.file_server import Files, serving

DATA = random.Random(7).randbytes(300_000)
NEWER = random.Random(8).randbytes(300_000)


@pytest.fixture
def files() -> Iterator[Files]:
    with serving(Files({"corpus.zip": DATA})) as served:
        yield served


def gets(files: Files) -> list[str]:
    return [wanted for method, _, wanted in files.requests if method == "GET"]


def bring(files: Files, folder: Path, sha256: str = "") -> bool:
    return fetch(look_up(f"{files.url}/corpus.zip"), folder / "corpus.zip", sha256=sha256, pause=lambda seconds: None)


def test_a_file_comes_once(files: Files, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    remote = look_up(f"{files.url}/corpus.zip")
    assert (remote.size, remote.md5) == (300_000, None)
    assert fetch(remote, tmp_path / "a" / "corpus.zip", lambda done, total: seen.append((done, total)))
    assert (tmp_path / "a" / "corpus.zip").read_bytes() == DATA
    assert seen[-1] == (300_000, 300_000)
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["corpus.zip"]
    assert not fetch(remote, tmp_path / "a" / "corpus.zip")
    assert gets(files) == [""]


def test_cut_connections_are_taken_up(files: Files, tmp_path: Path) -> None:
    files.cut_after, files.cuts = 100_000, 2
    assert bring(files, tmp_path)
    assert (tmp_path / "corpus.zip").read_bytes() == DATA
    assert gets(files) == ["", "bytes=100000-", "bytes=200000-"]


def test_a_stopped_command_goes_on(files: Files, tmp_path: Path) -> None:
    files.cut_after, files.cuts = 0, 99
    with pytest.raises(Unavailable):
        bring(files, tmp_path)
    files.cut_after, files.cuts = 120_000, 1

    def stop(seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(look_up(f"{files.url}/corpus.zip"), tmp_path / "corpus.zip", pause=stop)
    assert not (tmp_path / "corpus.zip").exists()
    assert bring(files, tmp_path)
    assert gets(files)[-1] == "bytes=120000-"
    assert (tmp_path / "corpus.zip").read_bytes() == DATA


def test_two_files_are_never_mixed(files: Files, tmp_path: Path) -> None:
    (tmp_path / "corpus.zip.part").write_bytes(DATA[:50_000])  # of an unknown file: no note beside it
    files.cut_after, files.cuts = 100_000, 1
    with pytest.raises(KeyboardInterrupt):
        fetch(look_up(f"{files.url}/corpus.zip"), tmp_path / "corpus.zip", pause=_interrupt)
    files.files["corpus.zip"] = NEWER
    assert bring(files, tmp_path)
    assert (tmp_path / "corpus.zip").read_bytes() == NEWER
    assert gets(files)[-1] == ""


def test_a_file_that_changes_under_way_starts_again(files: Files, tmp_path: Path) -> None:
    files.cut_after, files.cuts = 100_000, 1
    remote = look_up(f"{files.url}/corpus.zip")

    def change(seconds: float) -> None:
        files.files["corpus.zip"] = NEWER

    assert fetch(remote, tmp_path / "corpus.zip", pause=change)
    assert (tmp_path / "corpus.zip").read_bytes() == NEWER


def test_a_server_without_ranges(files: Files, tmp_path: Path) -> None:
    files.ranges, files.cut_after, files.cuts = False, 100_000, 1
    assert bring(files, tmp_path)
    assert (tmp_path / "corpus.zip").read_bytes() == DATA


def test_checksums(files: Files, tmp_path: Path) -> None:
    right = hashlib.sha256(DATA).hexdigest()
    assert bring(files, tmp_path, right.upper())
    with pytest.raises(Refused, match="sha256"):
        bring(files, tmp_path, "0" * 64)
    assert not (tmp_path / "corpus.zip").exists()
    files.md5["corpus.zip"] = DATA
    assert bring(files, tmp_path, right)
    files.md5["corpus.zip"] = NEWER
    with pytest.raises(Refused, match="md5"):
        bring(files, tmp_path)
    assert list(tmp_path.glob("corpus.zip")) == []


def test_what_is_not_there(files: Files, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="404"):
        look_up(f"{files.url}/nothing")
    with pytest.raises(Unavailable):
        look_up("http://127.0.0.1:9/corpus.zip")


def _interrupt(seconds: float) -> None:
    raise KeyboardInterrupt
