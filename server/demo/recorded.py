"""The recorded runs of the small reference systems, as the demo's entries are described."""

from __future__ import annotations

import json
from typing import Any

from server.demo.files import DATA
from server.runs import TEAM
from systems import catalog

FOLDER = DATA / "runs"


def provenances() -> list[dict[str, Any]]:
    """What each recorded run rested on, by the system's name."""
    return [json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))]


def entries() -> list[dict[str, Any]]:
    """One entry a recorded run, in the fields of `entries.yaml`."""
    return [_entry(told) for told in provenances()]


def _entry(told: dict[str, Any]) -> dict[str, Any]:
    config = catalog.find(told["system"])
    return {
        "folder": FOLDER.name,
        "file": f"{config.name}.csv",
        "team": TEAM,
        "system": config.name,
        "architecture": config.architecture,
        "supervision": config.supervision,
        "uses_autoais": config.uses_autoais,
        "description": f"{config.title}. {config.notes} A real run, recorded on {told['date']}; "
        f"to run it again: {told['command']}",
    }
