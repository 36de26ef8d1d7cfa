"""Prompts as files: NAME@VERSION.yaml, which never changes once published, so another wording is another version."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import Any

import yaml

from core.errors import NotFound
from core.text import hash_key


@dataclass(frozen=True, slots=True)
class Version:
    """One file: its NAME@VERSION, the digest of its text, and what stands in it."""

    key: str
    digest: str
    entry: dict[str, Any]


def names(folder: Traversable) -> list[str]:
    """NAME@VERSION of every file in a folder."""
    return sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml"))


def read(folder: Traversable, name: str) -> Version:
    """The file NAME@VERSION; NAME alone is its newest version. Raises `NotFound` with the names there are."""
    there = names(folder)
    versions = [each for each in there if each.partition("@")[0] == name]
    key = name if name in there else max(versions, key=lambda each: int(each.partition("@")[2]), default="")
    if not key:
        raise NotFound(f"There is no prompt {name!r}.", f"Prompts: {', '.join(there)}.")
    text = (folder / f"{key}.yaml").read_text("utf-8")
    return Version(key, hash_key(text, size=6).hex(), yaml.safe_load(text))
