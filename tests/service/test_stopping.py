"""Ctrl-C: the first one lets open requests end, the second stops at once, and neither shows a traceback."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.worker_process import wait_until

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("presses", [1, 2])
def test_a_server_with_an_open_page_stops_without_a_traceback(tmp_path: Path, presses: int) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {"AQA_DATA_DIR": str(tmp_path), "AQA_JUDGE": "token-overlap", "AQA_PORT": str(port)}
    command = [sys.executable, "-c", "from server.cli import main; main(['serve'])"]
    log = tmp_path / "said.txt"
    with log.open("w") as said_to:
        serving = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **own}, stderr=said_to)
    try:
        _wait_for(f"http://127.0.0.1:{port}/healthz")
        page = urllib.request.urlopen(f"http://127.0.0.1:{port}/leaderboard/gradio_api/heartbeat/x", timeout=30)
        serving.send_signal(signal.SIGINT)
        wait_until(lambda: "Stopping: " in log.read_text(), 60, "hearing the first press", log)
        if presses == 2:  # two at one moment would arrive as one
            serving.send_signal(signal.SIGINT)
        serving.wait(timeout=60)
        page.close()
    finally:
        serving.kill()
        serving.wait()
    said = log.read_text()
    assert serving.returncode == 0, said
    assert "Traceback" not in said
    assert "CancelledError" not in said
    assert "Stopping: requests that are open are finished." in said
    assert ("Stopped at once." in said) is (presses == 2)


def _wait_for(address: str) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(address, timeout=2).close()
            return
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the server did not start")
