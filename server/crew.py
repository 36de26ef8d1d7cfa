"""Workers that poll the database: one in this process, or several processes under one that replaces the dead."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Sequence
from multiprocessing.context import SpawnProcess

from core.settings import Settings
from server.bootstrap import build
from server.logs import set_up
from server.worker import Worker

log = logging.getLogger("aqa.crew")
_PAUSE = 1.0


def serve(settings: Settings, queues: Sequence[str], concurrency: int) -> None:
    """Take jobs in `concurrency` processes until SIGTERM or Ctrl-C."""
    if concurrency == 1:
        work(settings, queues)
    else:
        _supervise(settings, queues, concurrency)


def work(settings: Settings, queues: Sequence[str]) -> None:
    """Take jobs in this process; told to stop, finish the one in hand or, after the grace time, give it back."""
    set_up(logging.INFO, as_json=settings.log_json)
    worker = Worker(build(settings), queues)

    def leave() -> None:
        worker.give_back()
        os._exit(0)

    def stop(_number: int, _frame: object) -> None:
        threading.Thread(target=worker.stop).start()  # not here: the interrupted code may hold what `stop` locks
        timer = threading.Timer(settings.grace_seconds, leave)
        timer.daemon = True
        timer.start()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    worker.run()


def _supervise(settings: Settings, queues: Sequence[str], concurrency: int) -> None:
    context = multiprocessing.get_context("spawn")  # a fork would share what the judges' libraries hold open

    def hire() -> SpawnProcess:
        process = context.Process(target=work, args=(settings, tuple(queues)))
        process.start()
        return process

    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: stopping.set())
    crew = [hire() for _ in range(concurrency)]
    while not stopping.is_set():
        for place, process in enumerate(crew):
            if not process.is_alive():
                log.warning("worker process %s ended with %s; another takes its place", process.pid, process.exitcode)
                crew[place] = hire()
        time.sleep(_PAUSE)
    for process in crew:
        process.terminate()
    for process in crew:
        process.join()
