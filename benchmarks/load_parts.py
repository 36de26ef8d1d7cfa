"""The processes of a service under load: started, watched, and ended by their id."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
POSTGRES = os.environ.get("AQA_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")
AQA = ("-c", "from server.cli import main; main()")
_TICKS = os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Process:
    """One process; `memory` in MiB and `processor` in seconds, both of its children too."""

    def __init__(self, *arguments: str, **settings: object) -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("AQA_")}
        environment |= {name: str(value) for name, value in settings.items()}
        command = [sys.executable, *arguments] if arguments[0].startswith("-") else list(arguments)
        with tempfile.NamedTemporaryFile("wb", prefix="aqa-load-", suffix=".log", delete=False) as log:
            self._log = Path(log.name)
            self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)

    def answers(self, port: int, path: str = "/healthz", seconds: float = 90) -> None:
        """Wait until it does. Ends the script with the end of its log if it does not."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5):
                return
            time.sleep(0.1)
        sys.exit(f"{self.process.args} does not answer:\n{self._log.read_text()[-2000:]}")

    def says(self, words: str, seconds: float = 60) -> None:
        """Wait until these words stand in its log. Ends the script with the log's end if they do not."""
        end = time.monotonic() + seconds
        while words not in self._log.read_text():
            if time.monotonic() > end or self.process.poll() is not None:
                sys.exit(f"{self.process.args} did not say {words!r}:\n{self._log.read_text()[-2000:]}")
            time.sleep(0.05)

    @property
    def memory(self) -> float:
        """Resident memory now; what children share with their parent counts once for each."""
        return sum(_resident(pid) for pid in self._pids())

    @property
    def processor(self) -> float:
        """Processor time since it began."""
        return sum(_processor(pid) for pid in self._pids())

    def _pids(self) -> list[int]:
        found = [self.process.pid]
        for pid in found:
            with suppress(OSError):
                for task in Path(f"/proc/{pid}/task").iterdir():
                    found += [int(child) for child in (task / "children").read_text().split()]
        return found

    def end(self) -> None:
        """Ask it to stop; kill it if it does not."""
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._log.unlink(missing_ok=True)


@contextmanager
def running(*processes: Process) -> Iterator[None]:
    """End the processes at the end of the block, the last first."""
    try:
        yield
    finally:
        for process in reversed(processes):
            process.end()


@contextmanager
def postgres() -> Iterator[str | None]:
    """The URL of a fresh database, dropped at the end; None where no server answers."""
    try:
        import psycopg

        name = f"aqa_load_{os.getpid()}"
        with psycopg.connect(POSTGRES, autocommit=True, connect_timeout=5) as connection:
            connection.execute(f"CREATE DATABASE {name}")
    except Exception as error:
        print(f"no PostgreSQL at {POSTGRES}: {error}", file=sys.stderr)
        yield None
        return
    try:
        yield f"{POSTGRES.rsplit('/', 1)[0]}/{name}"
    finally:
        with psycopg.connect(POSTGRES, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def redis() -> Iterator[str | None]:
    """The address of a Redis of its own, without a database number; None where none is installed."""
    command = shutil.which("redis-server")
    if command is None:
        print("no redis-server on this machine", file=sys.stderr)
        yield None
        return
    port = free_port()
    server = subprocess.Popen(
        [command, "--port", str(port), "--bind", "127.0.0.1", "--save", ""], stdout=subprocess.DEVNULL
    )
    for _ in range(100):
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            break
        time.sleep(0.05)
    try:
        yield f"redis://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(10)


def _resident(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)


def _processor(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS
