"""`aqa serve` and `aqa worker`: the long-running parts of the service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from server.bootstrap import Services

_LOG = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on [default: AQA_HOST].")] = "",
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port [default: AQA_PORT].")] = None,
) -> None:
    """Serve the leaderboard, the pages and the API, with a worker inside unless AQA_EMBEDDED_WORKER=no."""
    from dataclasses import replace

    from server.cli.wiring import services, settings

    chosen = settings()
    chosen = replace(chosen, host=host or chosen.host, port=chosen.port if port is None else port)
    run_server(services(chosen))


def worker(
    queue: Annotated[
        list[str] | None, typer.Option(help="Queue to serve, cpu or gpu; repeatable [default: cpu].")
    ] = None,
    until_idle: Annotated[bool, typer.Option("--until-idle", help="End when no job is free.")] = False,
) -> None:
    """Take jobs and do them, until stopped by Ctrl-C or SIGTERM; the job in hand is finished first."""
    import logging
    import signal

    from core.errors import InvalidInput
    from core.queue import QUEUES
    from server.cli.console import stdout
    from server.cli.wiring import services
    from server.worker import Worker

    queues = queue or ["cpu"]
    if unknown := [each for each in queues if each not in QUEUES]:
        raise InvalidInput(f"There is no queue {unknown[0]!r}.", f"Queues: {', '.join(QUEUES)}.")
    logging.basicConfig(level=logging.INFO, format=_LOG)
    hands = Worker(services(), queues)
    if until_idle:
        stdout().print(f"{hands.run_until_idle():,} jobs done.")
        return
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, lambda _number, _frame: hands.stop())
    stdout().print(f"Worker {hands.name} serves {', '.join(queues)}. Stop it with Ctrl-C.")
    hands.run()


def run_server(services: Services) -> None:
    """Serve until stopped; the embedded worker ends with the server."""
    import uvicorn

    from server.app import create

    settings = services.settings
    with embedded_worker(services):
        uvicorn.run(create(services), host=settings.host, port=settings.port, log_level="warning")


@contextmanager
def embedded_worker(services: Services) -> Iterator[None]:
    """A worker thread for the time of the block, where the settings want one."""
    import threading

    from server.worker import Worker

    if not services.settings.embedded_worker:
        yield
        return
    hands = Worker(services)
    thread = threading.Thread(target=hands.run, name="worker", daemon=True)
    thread.start()
    try:
        yield
    finally:
        hands.stop()
        thread.join(timeout=10)
