"""The locks pin every package that this project can install, in the version that is installed and was tested."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements.lock", "weights.lock", "weights-worker.lock")
_PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([A-Za-z0-9.!+]+)")


def lines(lock: str) -> list[str]:
    read = (ROOT / lock).read_text(encoding="utf-8").splitlines()
    return [line for line in read if line.strip() and not line.startswith("#")]


def pinned() -> dict[str, str]:
    found = [_PIN.fullmatch(line.strip()) for lock in LOCKS for line in lines(lock)]
    return {canonicalize_name(each[1]): each[2] for each in found if each}


def declared() -> list[Requirement]:
    """What pyproject.toml asks for, with all extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = [*project["dependencies"], *(text for some in project["optional-dependencies"].values() for text in some)]
    return [each for each in map(Requirement, texts) if canonicalize_name(each.name) != project["name"]]


def needed() -> Iterator[tuple[str, str]]:
    """Every installed package that those rest on, however deep, and its version."""
    waiting, seen = [(each.name, frozenset(each.extras)) for each in declared()], set[tuple[str, frozenset[str]]]()
    while waiting:
        name, extras = waiting.pop()
        if (key := (canonicalize_name(name), extras)) in seen:
            continue
        seen.add(key)
        try:
            about = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # an extra that is not installed here
        yield key[0], about.version
        for text in about.requires or ():
            asked = Requirement(text)
            if asked.marker is None or any(asked.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                waiting.append((asked.name, frozenset(asked.extras)))


@pytest.mark.parametrize("lock", LOCKS)
def test_every_line_pins_one_version(lock: str) -> None:
    assert [line for line in lines(lock) if not _PIN.fullmatch(line.strip())] == []


def test_what_is_asked_for_is_pinned_within_its_bounds() -> None:
    locked, asked = pinned(), declared()
    assert len(asked) > 30
    assert [str(each) for each in asked if canonicalize_name(each.name) not in locked] == []
    outside = [each for each in asked if not each.specifier.contains(locked[canonicalize_name(each.name)])]
    assert [str(each) for each in outside] == []


def test_whatever_that_rests_on_is_pinned_in_the_version_that_is_installed() -> None:
    locked, found = pinned(), dict(needed())
    assert len(found) > 100
    # A build of torch for one kind of machine has a local part (+cpu), which a lock for all machines leaves out.
    told = {name: version.split("+")[0] for name, version in found.items()}
    apart = {"setuptools", "triton"}  # the environment's own, which pip freeze leaves out, and CUDA's
    ours = {name: version for name, version in told.items() if not name.startswith("nvidia") and name not in apart}
    assert {name: version for name, version in ours.items() if name not in locked} == {}, "run: make lock"
    assert {name: (version, locked[name]) for name, version in ours.items() if locked[name] != version} == {}


def test_nothing_is_pinned_that_nothing_needs() -> None:
    read = {canonicalize_name(line.partition("==")[0]) for line in lines("requirements.lock")}
    assert read - set(dict(needed())) == set()
