"""`aqa queue`: what waits, and stopping and starting it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

app = typer.Typer(help="Look after the queues.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="cpu or gpu.")]


@app.command()
def pause(queue: Name) -> None:
    """Let a queue's jobs wait; jobs in hand are finished."""
    from core import queue_care
    from server.cli.console import stdout
    from server.cli.wiring import services

    with services().database.transaction() as session:
        queue_care.pause(session, queue)
    stdout().print(f"The queue {queue} is paused. Resume it with: aqa queue resume {queue}")


@app.command()
def resume(queue: Name) -> None:
    """Let a queue's jobs be taken again."""
    from core import queue_care
    from server.cli.console import stdout
    from server.cli.wiring import services

    with services().database.transaction() as session:
        queue_care.resume(session, queue)
    stdout().print(f"The queue {queue} runs.")


@app.command("list")
def list_queues(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show what waits, runs and failed on each queue."""
    from core import queue_care
    from server.cli.console import print_json, stdout, table
    from server.cli.wiring import services

    with services().database.reading() as session:
        states = queue_care.overview(session)
    if as_json:
        print_json([asdict(state) for state in states])
        return
    numbers = ("Waiting", "Running", "Failed", "Oldest (s)")
    shown = table("Queues", "Queue", "State", *numbers, right=numbers)
    for state in states:
        oldest = "" if state.oldest is None else f"{state.oldest:,.0f}"
        counts = [f"{n:,}" for n in (state.queued, state.running, state.failed)]
        shown.add_row(state.queue, "paused" if state.paused else "runs", *counts, oldest)
    stdout().print(shown)
