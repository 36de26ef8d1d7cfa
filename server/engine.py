"""Workers under Celery: a parent that listens to the broker and sweeps, and children that do jobs."""

from __future__ import annotations

import logging
import multiprocessing
import os
import threading
from collections.abc import Sequence
from multiprocessing.synchronize import Event
from typing import Any

from celery import signals

from core.queue_care import Sweeper
from core.settings import Settings
from server.announcing import TASK, Announcer, celery_app, transport_queue
from server.bootstrap import Services, build
from server.exchange.jobs import Periodic
from server.worker import Worker

log = logging.getLogger("aqa.engine")


def serve(settings: Settings, queues: Sequence[str], concurrency: int) -> None:
    """Do jobs as they are announced, in `concurrency` child processes, until SIGTERM or Ctrl-C."""
    app = celery_app(settings.broker_url)
    engine = _Engine(settings)
    app.task(engine.work, name=TASK, ignore_result=True)
    listen: dict[Any, Any] = {
        signals.worker_process_init: engine.begin_child,
        signals.worker_ready: engine.begin_parent,
        signals.worker_shutting_down: engine.end,
    }
    for signal, receiver in listen.items():
        signal.connect(receiver, weak=False)
    try:
        app.Worker(
            queues=[transport_queue(queue) for queue in queues],
            concurrency=concurrency,
            pool="prefork",
            hostname=f"aqa-{os.getpid()}@%h",
            loglevel="INFO",
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
            optimization="fair",
        ).start()
    finally:
        for signal, receiver in listen.items():
            signal.disconnect(receiver)


class _Engine:
    """What the parent and each of its children hold; a child gets its own services after the fork."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._services: Services | None = None
        self._workers: dict[str, Worker] = {}
        self._leave: Event = multiprocessing.get_context("fork").Event()
        self._stopped = threading.Event()

    def work(self, queue: str) -> None:
        """In a child: do one job of the queue, if one is still free."""
        if self._services is None:
            raise RuntimeError("A job arrived before the services were there.")
        if queue not in self._workers:
            self._workers[queue] = Worker(self._services, (queue,))
        self._workers[queue].run_one()

    def begin_child(self, **_: Any) -> None:
        """Build services that share no connection with the parent."""
        if self._services is not None:
            self._services.database.engine.dispose(close=False)
        self._services, self._workers = build(self._settings), {}
        threading.Thread(target=self._leave_when_told, name="grace", daemon=True).start()

    def begin_parent(self, **_: Any) -> None:
        """Sweep and queue what is periodic, in a thread beside the broker's loop."""
        self._services = build(self._settings)
        threading.Thread(target=self._sweep, name="sweeper", daemon=True).start()

    def end(self, **_: Any) -> None:
        """Let the children finish what they have in hand, but only so long."""
        self._stopped.set()
        timer = threading.Timer(self._settings.grace_seconds, self._leave.set)
        timer.daemon = True
        timer.start()

    def _leave_when_told(self) -> None:
        self._leave.wait()
        for worker in self._workers.values():
            worker.give_back()
        os._exit(0)

    def _sweep(self) -> None:
        services, seconds = self._services, self._settings.sweep_seconds
        if services is None:
            return
        sweeper = Sweeper(services.database, services.queue, Announcer(self._settings.broker_url), seconds)
        periodic = Periodic(services)
        while not self._stopped.wait(min(1.0, seconds)):
            try:
                periodic.tick()
                if again := sweeper.sweep():
                    log.info("announced %s waiting jobs again", again)
            except Exception:
                log.exception("the sweeper could not reach the database; it will try again")
