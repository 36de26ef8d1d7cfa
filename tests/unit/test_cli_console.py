"""What the command line prints on narrow terminals, and what the demo logs."""

from __future__ import annotations

import logging
import socket
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from server import app, stopping
from server.cli.console import table
from server.cli.serve import run_server


def test_nothing_is_cut_off_in_a_narrow_table() -> None:
    console = Console(width=60)
    shown = table("Systems", "Name", "What it is", "Note", whole=("Name",))
    shown.add_row("RTR-BM25-T50-P50-A50", "BM25 and FiD: trained with 50, reads 50", "x" * 40)
    with console.capture() as captured:
        console.print(shown)
    text = captured.get()
    assert "…" not in text
    assert "RTR-BM25-T50-P50-A50" in text
    assert text.count("x") == 40


@pytest.mark.parametrize(("quiet", "level"), [(True, logging.WARNING), (False, logging.INFO)])
def test_a_quiet_server_logs_warnings_only(quiet: bool, level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "run", lambda *_arguments: True)
    monkeypatch.setattr(app, "create", lambda _services: None)
    logger = logging.getLogger("aqa")
    monkeypatch.setattr(logger, "level", logger.level)
    services: Any = SimpleNamespace(settings=SimpleNamespace(log_json=False))
    with socket.socket() as listening:
        run_server(services, listening, quiet=quiet)
    assert logger.level == level
