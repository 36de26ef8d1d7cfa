"""Runs `aqa` commands inside the test process, and small servers that they talk to."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from core.settings import Settings
from server.cli import main


@dataclass(frozen=True)
class Ended:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which has to be one JSON document and nothing else."""
        return json.loads(self.out)


Aqa = Callable[..., Ended]


def runner(settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Aqa:
    """A function that runs one command under `settings`."""
    monkeypatch.setenv("AQA_DATA_DIR", settings.data_dir)
    monkeypatch.setenv("AQA_DATABASE_URL", settings.database_url)
    monkeypatch.setenv("AQA_BOOTSTRAP_RESAMPLES", str(settings.bootstrap_resamples))
    monkeypatch.setenv("AQA_JUDGE", settings.judge)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: object) -> Ended:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Ended(int(ended.value.code or 0), said.out, said.err)

    return run
