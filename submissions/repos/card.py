"""What a repository says of its system: `system.yaml`, or the front matter of `README.md`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from core.errors import InvalidInput
from submissions.intake import SystemCard

SYSTEM = "system.yaml"
README = "README.md"
LARGEST = 256 * 1024
"""Bytes of a file that metadata is read from."""
_KINDS: dict[str, Any] = {
    "benchmark": str,
    "name": str,
    "architecture": str,
    "supervision": str,
    "description": str,
    "links": list,
    "uses_autoais": bool,
    "size": (int, float),
    "publish": bool,
}


@dataclass(frozen=True, slots=True)
class Entering:
    """What system, on which benchmark, and whether it is to be shown on the board."""

    benchmark: str
    card: SystemCard
    publish: bool


def read_card(files: Mapping[str, bytes], name: str) -> Entering | None:
    """The metadata in `system.yaml`, else in the front matter of `README.md`; None where neither says any.

    `name` is the system's name unless another is given. Raises `InvalidInput` naming file and key.
    """
    if SYSTEM in files:
        found = _mapping(files[SYSTEM], SYSTEM)
        if unknown := [key for key in found if key not in _KINDS]:
            raise InvalidInput(f"{SYSTEM} has an unknown key {str(unknown[0])[:40]!r}.", f"Keys: {', '.join(_KINDS)}.")
        return _entering(found, SYSTEM, name)
    matter = front_matter(files.get(README, b""))
    # The front matter of a README has keys of the Hub's own, which say nothing to us.
    found = {key: value for key, value in _mapping(matter, README).items() if key in _KINDS} if matter else {}
    return _entering(found, README, name) if "benchmark" in found else None


def front_matter(readme: bytes) -> bytes:
    """The YAML between the first line `---` and the next one; empty where there is none."""
    lines = readme.replace(b"\r\n", b"\n").removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if lines[0].rstrip() != b"---":
        return b""
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == b"---"), None)
    return b"\n".join(lines[1:end]) if end is not None else b""


def _mapping(data: bytes, file: str) -> dict[Any, Any]:
    if len(data) > LARGEST:
        raise InvalidInput(f"{file} is larger than {LARGEST // 1024} KiB.", "Keep the description short.")
    try:
        # Aliases can make a small file grow without end; nobody needs them here.
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(data, Loader=yaml.SafeLoader)):
            raise InvalidInput(f"{file} uses YAML aliases.", "Write the values out.")
        found: object = yaml.safe_load(data)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = f" in line {line + 1}" if line is not None else ""
        raise InvalidInput(f"{file} is not YAML{where}.", "For example: benchmark: nq-open") from None
    if not isinstance(found, dict):
        raise InvalidInput(f"{file} does not hold keys and values.", "For example: benchmark: nq-open")
    return found


def _entering(found: Mapping[Any, Any], file: str, name: str) -> Entering:
    for key, value in found.items():
        if not _is(value, _KINDS[key]) or (key == "links" and not all(isinstance(v, str) for v in value)):
            kind = {str: "a text", list: "a list of web addresses", bool: "true or false"}.get(
                _KINDS[key], "a number of billions of parameters"
            )
            raise InvalidInput(f"In {file}, {key} is not {kind}.", f"Write {key} as {kind}, in quotes if need be.")
    if not found.get("benchmark"):
        raise InvalidInput(f"{file} names no benchmark.", "Add a line like: benchmark: nq-open")
    card = SystemCard(
        found.get("name", name).strip(),
        found.get("architecture", "unknown"),
        found.get("supervision", "").strip(),
        found.get("description", "").strip(),
        tuple(found.get("links", ())),
        found.get("uses_autoais", False),
        found.get("size"),
    )
    return Entering(found["benchmark"], card, found.get("publish", False))


def _is(value: object, kind: Any) -> bool:
    """YAML's true and false are whole numbers to Python, but no size."""
    return isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool)
