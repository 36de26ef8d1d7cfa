"""The catalog of named systems: one YAML file each; an architecture is one module and one line here."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING

import yaml

from core.errors import InvalidInput, NotFound
from systems.config import SystemConfig, from_mapping

if TYPE_CHECKING:
    from systems.parts import Parts
    from systems.records import System

BUILDERS: dict[str, str] = {
    "retrieve-then-read": "systems.architectures.retrieve_then_read:build",
    "post-hoc-retrieval": "systems.architectures.post_hoc:build",
    "llm-as-retriever": "systems.architectures.llm_as_retriever:build",
}
"""Architecture → `module:function` from a configuration and parts to a system."""


@cache
def catalog() -> dict[str, SystemConfig]:
    """All configurations by name, in the order of architectures and names. Raises `InvalidInput` for a bad file."""
    found: dict[str, SystemConfig] = {}
    for file in sorted(files("systems").joinpath("configs").iterdir(), key=lambda each: each.name):
        if not file.name.endswith(".yaml"):
            continue
        config = from_mapping(yaml.safe_load(file.read_text(encoding="utf-8")), file.name)
        if config.name in found or file.name != f"{config.name}.yaml":
            raise InvalidInput(f"{file.name}: a configuration's file is called NAME.yaml.")
        found[config.name] = config
    return {each.name: each for each in sorted(found.values(), key=_place)}


def _place(config: SystemConfig) -> tuple[int, list[str | int]]:
    """By architecture, then by name with its numbers as numbers."""
    parts = re.split(r"(\d+)", config.name)
    return list(BUILDERS).index(config.architecture), [int(p) if at % 2 else p for at, p in enumerate(parts)]


def find(name: str) -> SystemConfig:
    """The configuration of that name, whatever its case. Raises `NotFound` with the names there are."""
    for config in catalog().values():
        if config.name.lower() == name.lower():
            return config
    raise NotFound(f"There is no system {name!r}.", f"Systems: {', '.join(catalog())}.")


def make(config: SystemConfig, parts: Parts) -> System:
    """The system that a configuration describes. Raises `AqaError` where a part is missing."""
    module, _, function = BUILDERS[config.architecture].partition(":")
    system: System = getattr(import_module(module), function)(config, parts)
    return system


def not_yet_run(entered: Collection[str]) -> list[SystemConfig]:
    """The configurations whose name is not among the names of systems that have entered something."""
    return [config for name, config in catalog().items() if name not in entered]
