"""`aqa serve` and `aqa worker`: the long-running parts of the service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from server.bootstrap import Services

def serve(
    host: Annotated[str, typer.Option(help="Address to listen on (default: AQA_HOST).")] = "",
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port (default: AQA_PORT).")] = None,
) -> None:
    """Serve the leaderboard, the pages and the API, with a worker inside unless AQA_EMBEDDED_WORKER=no."""
    from dataclasses import replace

    from server.cli.console import stderr
    from server.cli.wiring import services, settings

    chosen = settings()
    chosen = replace(chosen, host=host or chosen.host, port=chosen.port if port is None else port)
    stderr().print(f"Serving {chosen.resolved_public_url}; the board is at /leaderboard/. Stop with Ctrl-C.")
    run_server(services(chosen))


def worker(
    queue: Annotated[
        list[str] | None, typer.Option(help="Queue to serve, cpu or gpu; repeatable (default: cpu).")
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
    from server.logs import set_up
    from server.worker import Worker

    queues = queue or ["cpu"]
    if unknown := [each for each in queues if each not in QUEUES]:
        raise InvalidInput(f"There is no queue {unknown[0]!r}.", f"Queues: {', '.join(QUEUES)}.")
    set_up(logging.INFO)
    hands = Worker(services(), queues)
    if until_idle:
        done = hands.run_until_idle()
        stdout().print(f"{done:,} job{'' if done == 1 else 's'} done.")
        return
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, lambda _number, _frame: hands.stop())
    stdout().print(f"Worker {hands.name} serves {', '.join(queues)}. Stop it with Ctrl-C.")
    hands.run()


def run_server(services: Services) -> None:
    """Serve until stopped; the embedded worker starts and ends with the server."""
    import logging

    import uvicorn

    from server.app import create
    from server.logs import set_up

    set_up(logging.WARNING)
    uvicorn.run(
        create(services), host=services.settings.host, port=services.settings.port, log_level="warning", log_config=None
    )
