"""Loading the demo: what an earlier start or version left is kept."""

from __future__ import annotations

import dataclasses

import pytest
from sqlalchemy import func, select

from core.tables import Submission
from server.bootstrap import Services
from server.demo import load as demo


def entries(services: Services) -> int:
    with services.database.reading() as session:
        return session.scalar(select(func.count()).select_from(Submission)) or 0


def test_a_second_start_adds_nothing(services: Services) -> None:
    added = demo.load(services)
    assert added
    assert demo.load(services) == 0
    assert entries(services) == added


def test_data_of_an_earlier_version_is_served_as_it_is(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    demo.load(services)
    before = entries(services), services.benchmarks.get("demo")
    monkeypatch.setattr(demo, "NEW", dataclasses.replace(demo.NEW, raters_per_item=3))
    assert demo.load(services) is None
    assert (entries(services), services.benchmarks.get("demo")) == before
