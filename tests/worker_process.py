"""`aqa worker` as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
AQA_WORKER = "from server.cli import main; main()"


def environment(settings: Settings, **more: object) -> dict[str, str]:
    """The environment under which a command has these settings."""
    chosen = {name: value for name, value in vars(settings).items() if value != getattr(Settings(), name)}
    return os.environ | {f"AQA_{name.upper()}": str(value) for name, value in {**chosen, **more}.items()}


@contextmanager
def working(
    settings: Settings, log: Path, *arguments: str, code: str = AQA_WORKER
) -> Iterator[subprocess.Popen[bytes]]:
    """A worker for the time of the block, in a process group of its own that is killed at the end."""
    command = [sys.executable, "-c", code, "worker", *arguments]
    with log.open("ab") as file:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment(settings), stdout=file, stderr=file, start_new_session=True
        )
    try:
        yield process
    finally:
        kill_group(process)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL to a worker and its children."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_until(condition: Callable[[], bool], seconds: float, what: str, log: Path | None = None) -> None:
    """Look ten times a second; fails naming what did not come true."""
    end = time.monotonic() + seconds
    while not condition():
        told = log.read_text()[-3000:] if log is not None else ""
        assert time.monotonic() < end, f"{what} did not happen within {seconds} s\n{told}"
        time.sleep(0.1)
