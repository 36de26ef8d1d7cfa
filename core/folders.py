"""Folders that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def appearing_together(folder: Path) -> Iterator[Path]:
    """A folder aside; what is written there appears in `folder` at the end, by renames, in place of what had the names.

    Where writing breaks off, on a full disk say, nothing of it appears, what was there stays, and folders that were
    made for it are removed again.
    """
    with making_folders() as make:
        make(folder)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".unfinished-") as name:
            aside = Path(name)
            yield aside
            found = sorted(aside.rglob("*"))
            for path in found:  # all of these first: they take room, and renames do not
                if path.is_dir():
                    make(folder / path.relative_to(aside))
            for path in found:
                if not path.is_dir():
                    os.replace(path, folder / path.relative_to(aside))


@contextmanager
def making_folders() -> Iterator[Callable[[Path], None]]:
    """A function that makes a folder and those above it; those that it made are removed if what follows breaks off."""
    made: list[Path] = []

    def make(folder: Path) -> None:
        for path in reversed([folder, *folder.parents]):
            if not path.exists():
                path.mkdir(exist_ok=True)
                made.append(path)
        folder.mkdir(exist_ok=True)  # tells if it is no folder

    try:
        yield make
    except BaseException:
        for path in reversed(made):
            with contextlib.suppress(OSError):  # somebody else has put something there
                path.rmdir()
        raise
