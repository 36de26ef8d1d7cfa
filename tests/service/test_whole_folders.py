"""Commands that write a folder write all of it or nothing, whatever fails on the way."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.blobs import LocalBlobs
from core.folders import appearing_together
from core.settings import Settings
from scorer.outputs import files
from server.bootstrap import Services
from server.worker import Worker
from tests.command_line import Aqa, runner
from tests.small_benchmark import GOOD, add_benchmark, add_team, submit

FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def aqa(
    services: Services, settings: Settings, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> Aqa:  # fmt: skip
    """With two entries on the board."""
    add_benchmark(services, tmp_path / "files")
    team = add_team(services)
    submit(services, team, system="A", publish=True)
    submit(services, team, GOOD[:3], system="B", publish=True)
    Worker(services).run_until_idle()
    return runner(settings, monkeypatch, capsys)


def full_after(calls: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function on a disk with room for so many calls."""
    left = [calls]

    def bounded(*given: Any, **named: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise FULL
        return function(*given, **named)

    return bounded


def tree(folder: Path) -> dict[str, bytes]:
    """Path → content of every file."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("room", [0, 2, 4, 5])
def test_an_export_on_a_full_disk(aqa: Aqa, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """Each entry takes three files; the second one's manifest is the sixth."""
    there = tmp_path / "there"
    assert aqa("export", "--benchmark", "small", "--out", there).code == 0
    (there / "leaderboard.csv").write_text("earlier")
    before = tree(there)
    assert len(before) == 7
    monkeypatch.setattr(files, "_write", full_after(room, files._write))
    for out in (there, tmp_path / "new" / "deeper"):
        ended = aqa("export", "--benchmark", "small", "--out", out)
        assert (ended.code, ended.out) == (1, "")
        assert ended.err.startswith("Error: No space left on device.")
        assert "Make room" in ended.err
    assert tree(there) == before
    assert not (tmp_path / "new").exists()


def test_a_backup_on_a_full_disk(aqa: Aqa, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LocalBlobs, "put", full_after(1, LocalBlobs.put))
    empty = tmp_path / "empty"
    empty.mkdir()
    for out in (empty, tmp_path / "new" / "deeper"):
        ended = aqa("backup", out)
        assert (ended.code, ended.err.startswith("Error: No space left on device.")) == (1, True)
    assert list(empty.iterdir()) == []
    assert not (tmp_path / "new").exists()


def test_folders_that_cannot_be_made_leave_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"

    def begin() -> None:
        with appearing_together(out) as aside:
            for name in ("a", "b"):
                (aside / name).mkdir()
                (aside / name / "file").write_text(name)
            monkeypatch.setattr(Path, "mkdir", full_after(2, Path.mkdir))

    with pytest.raises(OSError, match="No space"):
        begin()
    monkeypatch.undo()
    assert not out.exists()
    out.write_text("a file")
    with pytest.raises(FileExistsError), appearing_together(out):
        pass
