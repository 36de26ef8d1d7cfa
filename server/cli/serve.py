"""`aqa serve` and `aqa worker`: the long-running parts of the service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from socket import socket

    from core.settings import Settings
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
    listening = ready(chosen)
    wired = services(chosen)
    stderr().print(f"Serving {chosen.resolved_public_url}; the board is at /leaderboard/. Stop with Ctrl-C.")
    run_server(wired, listening)


def worker(
    queue: Annotated[
        list[str] | None, typer.Option(help="Queue to serve, cpu or gpu; repeatable (default: cpu).")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=256, help="Processes that take jobs.")] = 1,
    until_idle: Annotated[bool, typer.Option("--until-idle", help="End when no job is free.")] = False,
) -> None:
    """Take jobs and do them, until stopped by Ctrl-C or SIGTERM; the job in hand is finished or given back."""
    import logging

    from core.queue import checked
    from core.text import counted
    from scorer import judges
    from server.cli.console import stdout
    from server.cli.wiring import services
    from server.logs import set_up

    queues = [checked(each) for each in queue or ["cpu"]]
    wired = services()
    settings = wired.settings
    judges.check(settings.judge)  # else every submission would fail for good
    set_up(logging.INFO, as_json=settings.log_json)
    if until_idle:
        from server.worker import Worker

        done = Worker(wired, queues).run_until_idle()
        stdout().print(f"{counted(done, 'job')} done.")
        return
    wired.database.engine.dispose()  # the processes that do the work open their own connections
    how = "as the broker announces them" if settings.broker_url else "by looking into the database"
    stdout().print(f"Worker serves {', '.join(queues)} {how}. Stop it with Ctrl-C.")
    if settings.broker_url:
        from server.engine import serve as work
    else:
        from server.crew import serve as work
    work(settings, queues, concurrency)


def ready(settings: Settings) -> socket:
    """Look for what would stop the server, before anything is done for nothing; returns the socket it listens on.

    Who connects from now on waits until the server has started, and is not refused.

    Raises `InvalidInput` for a judge that does not exist or a limit that cannot be read, and `Unavailable` for an
    address that is taken.
    """
    from socket import AF_INET, AF_INET6, create_server

    from core.errors import Unavailable
    from scorer import judges
    from server.limits import check

    judges.check(settings.judge)
    check(settings)
    try:
        return create_server((settings.host, settings.port), family=AF_INET6 if ":" in settings.host else AF_INET)
    except (OSError, OverflowError) as error:
        raise Unavailable(
            f"{settings.host}:{settings.port} cannot be listened on: {getattr(error, 'strerror', None) or error}.",
            "Choose another address with --host and --port, or stop what listens there.",
        ) from error


def run_server(services: Services, listening: socket, *, quiet: bool = False) -> None:
    """Serve until stopped; the embedded worker starts and ends with the server. Quiet, only warnings are logged."""
    import logging

    import uvicorn

    from server.app import create
    from server.cli.console import stderr
    from server.logs import set_up
    from server.stopping import run

    set_up(logging.WARNING if quiet else logging.INFO, as_json=services.settings.log_json)
    config = uvicorn.Config(create(services), log_level="warning", log_config=None)
    if not run(config, listening, lambda told: stderr().print(told, markup=False)):
        raise typer.Exit(1)
