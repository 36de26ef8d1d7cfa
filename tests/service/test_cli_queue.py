"""`aqa queue`: pausing is seen by workers and by the list."""

from __future__ import annotations

import json

import pytest

from core.errors import InvalidInput
from core.settings import Settings
from server.bootstrap import Services
from server.cli import app
from tests.small_benchmark import add_benchmark, add_team, submit


@pytest.fixture
def run(settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv("AQA_DATA_DIR", settings.data_dir)
    monkeypatch.setenv("AQA_DATABASE_URL", settings.database_url)

    def call(*arguments: str) -> str:
        app(["queue", *arguments], standalone_mode=False)
        return capsys.readouterr().out

    return call


def test_pause_list_resume(run, services: Services, tmp_path) -> None:
    add_benchmark(services, tmp_path / "files")
    submit(services, add_team(services))
    assert "paused" in run("pause", "cpu")
    cpu, gpu = json.loads(run("list", "--json"))
    assert (cpu["queue"], cpu["paused"], cpu["queued"], gpu["paused"]) == ("cpu", True, 1, False)
    assert cpu["oldest"] >= 0
    assert services.queue.claim(["cpu"], "w") is None
    assert "paused" in run("list")
    run("resume", "cpu")
    assert services.queue.claim(["cpu"], "w") is not None
    assert "paused" not in run("list")


def test_an_unknown_kind_is_refused_with_the_kinds_there_are(run, services: Services) -> None:
    for command in (["jobs"], ["retry", "--all-failed"]):
        with pytest.raises(InvalidInput, match="There is no kind 'nonsense'") as refused:
            run(*command, "--kind", "nonsense")
        assert "evaluate, evaluate-released" in refused.value.hint
    assert "No job is like that" in run("jobs", "--kind", "evaluate")
