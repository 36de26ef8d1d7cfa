"""A job in hand when its team is deleted ends quietly, with one line in the log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from server import jobs
from server.bootstrap import Services
from server.deletion import delete_team
from server.worker import Worker
from submissions.kinds import EVALUATE
from tests.small_benchmark import add_benchmark, add_team, submit


@pytest.mark.parametrize("error", [KeyError("gone"), None])
def test_it_is_one_line(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    error: Exception | None,
) -> None:  # fmt: skip
    """Whether it stumbles over what is missing or comes to its end."""
    add_benchmark(services, tmp_path / "files")
    team = add_team(services)
    submit(services, team)
    doing: Callable[..., None] = jobs.JOBS[EVALUATE]

    def deleted_meanwhile(*given: object) -> None:
        delete_team(services, team)
        if error is not None:
            raise error
        doing(*given)

    monkeypatch.setitem(jobs.JOBS, EVALUATE, deleted_meanwhile)
    caplog.set_level(logging.INFO, "aqa.worker")
    assert Worker(services).run_one()
    ended = [record for record in caplog.records if record.name == "aqa.worker"][1:]
    assert [(record.levelname, record.exc_info) for record in ended] == [("WARNING", None)]
    assert "cancelled" in ended[0].getMessage()
