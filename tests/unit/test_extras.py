"""The command that installs an extra, for both ways in which the project can be installed."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from core import extras

SOURCES = SimpleNamespace(read_text=lambda name: None)
"""What setuptools leaves in the project's folder: found as an installed project, with nothing said of how."""


def installed(about: dict[str, Any]) -> SimpleNamespace:
    return SimpleNamespace(read_text={"direct_url.json": json.dumps(about)}.get)


@pytest.mark.parametrize("found", [True, False])
def test_an_editable_install_stays_one(monkeypatch: pytest.MonkeyPatch, found: bool) -> None:
    here = [SOURCES] * found + [installed({"url": "file:///here", "dir_info": {"editable": True}})]
    monkeypatch.setattr(extras, "distributions", lambda name: here)
    assert extras.how_to_install("llm") == (
        "pip install --constraint requirements.lock --editable '.[llm]' (in the project's folder)"
    )
    assert extras.how_to_install("worker", "llm", apart="some==1") == (
        "pip install --constraint requirements.lock --editable '.[worker,llm]' "
        "&& pip install --no-deps some==1 (in the project's folder)"
    )


@pytest.mark.parametrize(
    "here",
    [
        [],
        [SOURCES],
        [installed({"url": "file:///here", "dir_info": {}})],
        [installed({"url": "https://example.org/a.whl", "archive_info": {}})],
    ],
)
def test_a_copy_is_added_to_by_the_projects_name(monkeypatch: pytest.MonkeyPatch, here: list[Any]) -> None:
    monkeypatch.setattr(extras, "distributions", lambda name: here)
    assert extras.how_to_install("llm") == "pip install 'aqa-leaderboard[llm]'"
    assert extras.how_to_install("worker", "llm", apart="some==1") == (
        "pip install 'aqa-leaderboard[worker,llm]' && pip install --no-deps some==1"
    )
