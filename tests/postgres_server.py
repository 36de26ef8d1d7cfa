"""A PostgreSQL of the test's own on a free port, which may be stopped as if by a power cut, and started again."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg
import pytest


class PostgresServer:
    """One private server; `crash` loses what was not committed, and nothing else."""

    def __init__(self) -> None:
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        initdb = shutil.which("initdb") or (str(found[-1]) if found else None)
        if initdb is None:
            pytest.skip("no initdb on this machine")
        self._bin = Path(initdb).parent
        self._user = "postgres" if os.getuid() == 0 else None  # the server refuses to run as root
        self._folder = Path(tempfile.mkdtemp(prefix="aqa-pg-"))
        if self._user is not None:
            os.chown(self._folder, pwd.getpwnam(self._user).pw_uid, -1)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        options = ["-D", str(self._folder / "data"), "-A", "trust", "-U", "postgres"]
        subprocess.run([initdb, *options], user=self._user, cwd=self._folder, check=True, capture_output=True)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start and wait until it answers."""
        command = [str(self._bin / "postgres"), "-D", str(self._folder / "data"), "-p", str(self.port)]
        command += ["-h", "127.0.0.1", "-k", str(self._folder), "-c", "shared_buffers=16MB"]
        self._process = subprocess.Popen(
            command, user=self._user, cwd=self._folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for _ in range(300):
            try:
                return psycopg.connect(self.url, connect_timeout=2).close()
            except psycopg.OperationalError:
                time.sleep(0.1)
        pytest.fail("PostgreSQL did not start")

    def crash(self) -> None:
        """Immediate shutdown: connections are cut, and the next start recovers from the log."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(60)
            self._process = None

    def remove(self) -> None:
        """Stop it and delete its files."""
        self.crash()
        shutil.rmtree(self._folder, ignore_errors=True)
