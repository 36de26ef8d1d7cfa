"""The catalog of named systems: one YAML file each; an architecture is one module and one line here."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import yaml

from core.errors import InvalidInput, NotFound
from core.tracks import EDITING, QA
from systems.config import TOLD, SystemConfig, from_mapping
from systems.llm import parse as parse_llm

if TYPE_CHECKING:
    from systems.parts import Parts
    from systems.records import System

BUILDERS: dict[str, str] = {
    "retrieve-then-read": "systems.architectures.retrieve_then_read:build",
    "post-hoc-retrieval": "systems.architectures.post_hoc:build",
    "llm-as-retriever": "systems.architectures.llm_as_retriever:build",
    "research-and-revise": "systems.rarr.build:build",
}
"""Architecture → `module:function` from a configuration and parts to a system. The module's `reads` says which
components of a configuration make a difference to it."""

EDITING_TOO = frozenset({"research-and-revise"})
"""Architectures that also work on benchmarks of the editing track."""


@cache
def catalog() -> dict[str, SystemConfig]:
    """All configurations by name, in the order of architectures and names. Raises `InvalidInput` for a bad file."""
    found: dict[str, SystemConfig] = {}
    for file in sorted(files("systems").joinpath("configs").iterdir(), key=lambda each: each.name):
        if not file.name.endswith(".yaml"):
            continue
        config = read(file.read_bytes(), file.name)
        if config.name in found or file.name != f"{config.name}.yaml":
            raise InvalidInput(f"{file.name}: a configuration's file is called NAME.yaml.", "Rename one of them.")
        found[config.name] = config
    return {each.name: each for each in sorted(found.values(), key=_place)}


def read(data: bytes, where: str) -> SystemConfig:
    """The configuration in a YAML file. Raises `InvalidInput` that names the file and what is wrong in it."""
    try:
        entry = yaml.load(data.decode("utf-8"), _Strict)  # nosec B506
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        what = " ".join(str(error).split())
        raise InvalidInput(f"{where}: not a YAML file: {what}", "See docs/systems.md for the fields.") from None
    config = from_mapping(entry, where)
    if config.architecture not in BUILDERS:
        raise InvalidInput(f"{where}: nothing builds {config.architecture!r}.", f"One of {', '.join(BUILDERS)}.")
    known = reads(config)
    idle = sorted(set(config.components()) - set(known) - TOLD)
    if idle:
        raise InvalidInput(f"{where}: nothing reads {', '.join(idle)}.", f"Read are: {', '.join(sorted(known))}.")
    _check_whole(config, f"{where}: ")
    return config


class _Strict(yaml.SafeLoader):
    """YAML takes the last of two equal keys; a file that says two things is refused."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for at, key in enumerate(keys):
            if key in keys[:at]:
                raise yaml.constructor.ConstructorError(None, None, f"{key} stands twice", node.start_mark)
        return super().construct_mapping(node, deep)


def reads(config: SystemConfig) -> dict[str, bool]:
    """The components that make a difference to a system of this configuration, and whether it needs them."""
    module, _, _ = BUILDERS[config.architecture].partition(":")
    known: dict[str, bool] = import_module(module).reads(config)
    return known


def configured(name: str, changes: Mapping[str, str]) -> SystemConfig:
    """The named configuration with other components.

    Raises `NotFound` for an unknown name, `InvalidInput` for a wrong value and for a component that the system does
    not have or would not read.
    """
    config = find(name)
    made = config.changed(changes)
    usable = reads(made)
    if idle := [field for field in changes if field not in usable]:
        raise InvalidInput(
            f"{config.name} does not read {', '.join(idle)}; setting it would change nothing.",
            f"What can be set: {', '.join(sorted(usable, key=str.lower))}.",
        )
    _check_whole(made, "")
    return made


def _check_whole(config: SystemConfig, where: str) -> None:
    there = config.components()
    if lacking := sorted(name for name, needed in reads(config).items() if needed and name not in there):
        raise InvalidInput(f"{where}{config.name} has no {', '.join(lacking)}.", f"Set {', '.join(lacking)}.")
    for model in (config.model if config.reader != "fid" else "", config.corrector):
        if model[:1] not in ("", "?"):
            parse_llm(model)


def _place(config: SystemConfig) -> tuple[int, list[str | int]]:
    """By architecture, then by name with its numbers as numbers."""
    parts = re.split(r"(\d+)", config.name)
    return list(BUILDERS).index(config.architecture), [int(p) if at % 2 else p for at, p in enumerate(parts)]


def find(name: str) -> SystemConfig:
    """The configuration of that name, whatever its case. Raises `NotFound` with the names there are."""
    for config in catalog().values():
        if config.name.lower() == name.lower():
            return config
    known = {each.lower(): each for each in catalog()}
    near = [known[each] for each in get_close_matches(name.lower(), known, n=3)]
    hint = f"Did you mean {' or '.join(near)}?" if near else f"Systems: {', '.join(catalog())}."
    raise NotFound(f"There is no system {name[:60]!r}.", f"{hint} All of them: aqa system list.")


def make(config: SystemConfig, parts: Parts) -> System:
    """The system that a configuration describes. Raises `AqaError` where a part is missing."""
    module, _, function = BUILDERS[config.architecture].partition(":")
    system: System = getattr(import_module(module), function)(config, parts)
    return system


def check_track(config: SystemConfig, track: str) -> None:
    """Raises `InvalidInput` for a system that cannot work on benchmarks of that track."""
    if track == EDITING and config.architecture not in EDITING_TOO:
        able = ", ".join(each.name for each in able_on(track))
        raise InvalidInput(f"{config.name} answers questions; this benchmark has passages to revise.", f"Take {able}.")


def able_on(track: str) -> list[SystemConfig]:
    """The configurations that can work on benchmarks of a track, in the catalog's order."""
    return [each for each in catalog().values() if track != EDITING or each.architecture in EDITING_TOO]


def not_yet_run(entered: Collection[str], track: str = QA) -> list[SystemConfig]:
    """The configurations that can work on a track and whose name is not among those that have entered something."""
    return [config for config in able_on(track) if config.name not in entered]
