"""A few-shot prompt of named fields, for the steps of systems that do more than answer; versioned like any prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from unicodedata import category

from systems.prompts import versions

_DATA = files("systems.prompts") / "data" / "rarr"


@dataclass(frozen=True, slots=True)
class Template:
    """`example` and `open` name their fields in braces; a model goes on from the last character of `open`."""

    key: str
    """NAME@VERSION."""
    digest: str
    instruction: str
    example: str
    open: str
    stop: tuple[str, ...]
    exemplars: tuple[Mapping[str, str], ...]
    """Solved examples, written for this project."""

    @property
    def signature(self) -> str:
        """Name, version and digest of the file, as they stand in a run's signature."""
        return f"prompt:{self.key}#{self.digest}"

    @property
    def head(self) -> str:
        """Instruction and solved examples, with which every prompt of this template begins."""
        return self.instruction + "".join(self.example.format(**each) for each in self.exemplars)

    def tail(self, **parts: str) -> str:
        """What is asked, without the examples. Each part becomes one line, so that none can look like the next part."""
        return self.open.format(**{name: one_line(text) for name, text in parts.items()})

    def render(self, **parts: str) -> str:
        """The whole prompt."""
        return self.head + self.tail(**parts)


def one_line(text: str) -> str:
    """The text without line ends, runs of spaces, control characters and halves of surrogate pairs."""
    shown = (" " if not each.isprintable() and category(each) in ("Cc", "Cs") else each for each in text)
    return " ".join("".join(shown).split())


def names() -> list[str]:
    """NAME@VERSION of every template there is."""
    return versions.names(_DATA)


@cache
def load(name: str) -> Template:
    """The template NAME@VERSION; NAME alone is its newest version. Raises `NotFound` with the names there are."""
    found = versions.read(_DATA, name)
    entry = found.entry
    return Template(
        key=found.key,
        digest=found.digest,
        instruction=entry["instruction"],
        example=entry["example"],
        open=entry["open"],
        stop=tuple(entry["stop"]),
        exemplars=tuple({name: str(value) for name, value in each.items()} for each in entry["exemplars"]),
    )
