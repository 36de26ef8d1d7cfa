"""A Redis of the test's own on a free port, which may be flushed, killed and started again."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest


class RedisServer:
    """One private server, without persistence: what it held is gone when it is killed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start and wait until it answers; skips where no Redis is installed."""
        command = shutil.which("redis-server")
        if command is None:
            pytest.skip("no redis-server on this machine")
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self._folder)]
        self._process = subprocess.Popen([command, *options], stdout=subprocess.DEVNULL)
        for _ in range(200):
            try:
                return self.flush()
            except Exception:
                time.sleep(0.05)
        pytest.fail("Redis did not start")

    def flush(self) -> None:
        """Lose every message."""
        import redis

        with redis.Redis(port=self.port, socket_timeout=5) as client:
            client.flushall()

    def messages(self) -> int:
        """How many announcements wait on the queue cpu."""
        import redis

        with redis.Redis(port=self.port, socket_timeout=5) as client:
            return int(client.llen("aqa.cpu"))

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
