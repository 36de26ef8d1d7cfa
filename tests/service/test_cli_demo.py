"""The demo: loaded through the doors of a stranger, kept between starts, served by one command."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from leaderboard import board
from server.bootstrap import Services
from server.cli.demo import demo
from server.demo import editing
from server.demo.load import load
from server.worker import Worker


def test_load_scores_and_load_again(services: Services) -> None:
    assert load(services) == 13
    assert Worker(services).run_until_idle() == 13
    with services.database.reading() as session:
        first = board.rows(session, "demo")
    assert len(first.rows) == 13
    assert first.synthetic
    assert len(first.groups) >= 4
    for row in first.rows:
        assert row.entry.reference
        assert row.metrics["ais"].value is not None
        assert row.metrics["ais"].details["coverage"] == 1
    by_name = {row.entry.system: row.metrics["em"].value for row in first.rows}
    assert by_name["Post-Exemplar"] < 0.2 < 0.6 < by_name["RTR-BM25-5"] < by_name["Oracle passage (upper bound)"]
    services.intake.withdraw(first.rows[0].entry.submission, None)
    assert load(services) == 0
    assert Worker(services).run_until_idle() == 0
    with services.database.reading() as session:
        assert len(board.rows(session, "demo").rows) == 12


def test_the_banner_counts_the_entries_of_both_tracks(
    services: Services, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = services.settings
    monkeypatch.setattr("server.cli.wiring.settings", lambda: chosen)
    monkeypatch.setattr("server.cli.serve.ready", lambda settings: None)
    monkeypatch.setattr("server.cli.serve.run_server", lambda wired, listening, quiet: None)
    monkeypatch.setattr("server.cli.demo._load_editing", lambda wired: None)
    demo(host="", port=None)
    entries = len(list(editing.FOLDER.glob("entries/*.jsonl"))) + len(list(editing.FOLDER.glob("runs/*.json")))
    assert f"{13 + entries} entries are being scored" in capsys.readouterr().out


@pytest.mark.slow
def test_one_command_serves_it_and_keeps_the_data(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    first_token, first = _run(tmp_path, port)
    second_token, second = _run(tmp_path, port)
    assert first_token != second_token
    assert len(first) == 13
    assert [row["submission"] for row in first] == [row["submission"] for row in second]


def _run(folder: Path, port: int) -> tuple[str, list[dict[str, Any]]]:
    """Start the demo, wait for ten rows, try the token, stop it with Ctrl-C."""
    command = [sys.executable, "-c", "from server.cli import main; main()", "demo", "--port", str(port)]
    environment = os.environ | {"AQA_DATA_DIR": str(folder), "AQA_DATABASE_URL": "", "PYTHONUNBUFFERED": "1"}
    log = folder / "log.txt"
    with log.open("w") as output:
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        end = time.monotonic() + 90
        while len(rows := _get(port, "/leaderboard?benchmark=demo").get("rows", [])) < 13:
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.5)
        token = re.search(r"aqa_[\w-]+", log.read_text())
        assert token is not None
        assert f"http://127.0.0.1:{port}/leaderboard/" in log.read_text()
        assert _get(port, "/me", token.group())["team"] == "Demo team"
        return token.group(), rows
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)


def _get(port: int, path: str, token: str = "") -> dict[str, Any]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/v1{path}")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            found: dict[str, Any] = json.load(answer)
            return found
    except (urllib.error.URLError, ConnectionError):
        return {}
