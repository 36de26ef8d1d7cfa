"""Entries of all sorts and a judge to score them anew by."""

from __future__ import annotations

from pathlib import Path

import pytest

from scorer import judges
from server.bootstrap import Services
from tests import rescoring


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The strict judge is known."""
    monkeypatch.setitem(judges.REGISTRY, "strict", f"{rescoring.__name__}:load_strict")
    rescoring.asked.clear()


@pytest.fixture
def services(services: Services, tmp_path: Path) -> Services:
    """Entries of all sorts, all scored."""
    return rescoring.entries(services, tmp_path)
