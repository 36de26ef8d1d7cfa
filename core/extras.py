"""The command that installs optional packages: another one where the project is installed from its folder as it is."""

from __future__ import annotations

import json
from importlib.metadata import distributions

PROJECT = "aqa-leaderboard"


def how_to_install(*extras: str, apart: str = "") -> str:
    """What to run so that these extras are there; `apart` is a package to be installed without what it asks for.

    An editable install is made anew as one, by the versions that the project is tested with: `pip install '.[…]'`
    would put a copy in its place, which no longer follows the folder.
    """
    named = ",".join(extras)
    more = f" && pip install --no-deps {apart}" if apart else ""
    if editable():
        return f"pip install --constraint requirements.lock --editable '.[{named}]'{more} (in the project's folder)"
    return f"pip install '{PROJECT}[{named}]'{more}"


def editable() -> bool:
    """True if this project is installed from its folder as it is."""
    # In the project's folder, what setuptools leaves there is found as well, before what pip installed.
    told = (each.read_text("direct_url.json") for each in distributions(name=PROJECT))
    return any(json.loads(text).get("dir_info", {}).get("editable", False) for text in told if text)
