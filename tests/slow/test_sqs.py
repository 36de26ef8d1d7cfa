"""SQS as the broker, by its URL, against a stand-in: moto's server, installed beside everything for this test alone."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.settings import Settings
from server.bootstrap import build
from tests.small_benchmark import add_benchmark, add_team
from tests.worker_process import ROOT, wait_until, working

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
_SERVER = "import sys; from moto.server import main; main(sys.argv[1:])"
_SCRIPT = "import sys; from tests.slow.test_sqs import announced; announced(*sys.argv[1:])"


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Installs moto and what Celery needs for SQS into a folder, and starts the server; gives the broker's URL."""
    folder = tmp_path / "packages"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "requirements.lock")]
    subprocess.run([*install, "--target", str(folder), "moto[server]", "celery[sqs]"], check=True, capture_output=True)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (tmp_path / "moto.log").open("wb") as log:
        command = [sys.executable, "-c", _SERVER, "-H", "127.0.0.1", "-p", str(port)]
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_until(lambda: not socket.socket().connect_ex(("127.0.0.1", port)), 60, "starting", tmp_path / "moto.log")
        yield f"sqs://testing:testing@127.0.0.1:{port}//"
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(20)


def test_sqs_announces(stand_in: str, tmp_path: Path) -> None:
    """In a process of its own, which finds the packages; nothing is swept, so only announcements can bring the jobs."""
    told = subprocess.run(
        [sys.executable, "-c", _SCRIPT, stand_in, str(tmp_path)],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, told.stderr[-4000:]
    print(f"\n{told.stdout}")


def announced(url: str, folder: str) -> None:
    """Send four files in two rounds and have them scored as SQS tells of them."""
    from tests.service.test_engine import scored, send

    chosen = Settings(
        judge="token-overlap", data_dir=f"{folder}/data", broker_url=url, sweep_seconds=600.0, embedded_worker=False,
        bootstrap_resamples=499,
    )  # fmt: skip
    services, log = build(chosen), Path(folder) / "worker.log"
    services.database.upgrade()
    add_benchmark(services, Path(folder) / "files")
    team = add_team(services)
    send(services, team, 2)
    with working(chosen, log):
        wait_until(lambda: scored(services) == 2, 120, "scoring what SQS announced", log)
        begun = time.monotonic()
        send(services, team, 2, 2)
        wait_until(lambda: scored(services) == 4, 60, "scoring what SQS announced", log)
        print(f"SQS (moto): 4 submissions scored; the last two {time.monotonic() - begun:.1f} s after they were sent")
