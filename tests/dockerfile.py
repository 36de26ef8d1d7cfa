"""Reads a Dockerfile as far as this project uses the language, so that tests can run its steps without an engine."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Stage:
    """One `FROM`: its instructions as (word, rest), in order."""

    name: str
    base: str
    steps: list[tuple[str, str]] = field(default_factory=list)

    def all(self, word: str) -> list[str]:
        """What follows that instruction, each time it is given."""
        return [rest for each, rest in self.steps if each == word]


def stages(text: str) -> dict[str, Stage]:
    """The stages by name; comments are left out and continued lines joined."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    found: dict[str, Stage] = {}
    current: Stage | None = None
    for line in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "FROM":
            base, _, name = rest.partition(" AS ")
            current = found[name] = Stage(name, base)
        elif current is not None:
            current.steps.append((word, rest.strip()))
        else:
            assert word == "ARG", line
    return found


def chain(found: dict[str, Stage], name: str) -> list[tuple[str, str]]:
    """The instructions of a stage after those of the stages it begins with."""
    stage = found[name]
    return (chain(found, stage.base) if stage.base in found else []) + stage.steps


def environment(steps: list[tuple[str, str]]) -> dict[str, str]:
    """What the `ENV` instructions set."""
    pairs = [pair.split("=", 1) for word, rest in steps if word == "ENV" for pair in shlex.split(rest)]
    return dict(pairs)


def command(steps: list[tuple[str, str]], word: str = "CMD") -> list[str]:
    """The last command in its exec form; of a `HEALTHCHECK`, what follows its options."""
    last = [rest for each, rest in steps if each == word][-1]
    return list(json.loads(last[last.index("[") :]))
