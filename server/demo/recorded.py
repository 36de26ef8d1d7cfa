"""The recorded runs of the small reference systems, as the demo's entries are described."""

from __future__ import annotations

import json
import re
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
    return [entry(told, "csv") | {"folder": FOLDER.name} for told in provenances()]


def entry(told: dict[str, Any], kind: str) -> dict[str, Any]:
    """A recorded run in the fields of `entries.yaml`; its file is of that kind."""
    config = catalog.find(told["system"])
    return {
        "file": f"{config.name}.{kind}",
        "team": TEAM,
        "system": config.name,
        "architecture": config.architecture,
        "supervision": config.supervision,
        "uses_autoais": config.uses_autoais,
        "size": _billions(told["model"]),
        "description": f"{config.title}. {config.notes} A real run, recorded on {told['date']}; "
        f"to run it again: {told['command']}",
    }


def _billions(model: str) -> float | None:
    """The parameters that a model's name tells, in billions: 0.135 for SmolLM2-135M."""
    found = re.search(r"-(\d+(?:\.\d+)?)([MB])\b", model)
    return float(found[1]) / (1_000 if found[2] == "M" else 1) if found else None
