"""`aqa queue`: what waits, stopping and starting it, and looking after single jobs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from server.job_desk import JobView

app = typer.Typer(help="Look after the queues and their jobs.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="cpu or gpu.")]
Numbers = Annotated[list[int], typer.Argument(help="The jobs' numbers, as `aqa queue jobs` shows them.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def pause(queue: Name) -> None:
    """Let a queue's jobs wait; jobs in hand are finished."""
    from server import job_desk
    from server.cli.console import stdout
    from server.cli.wiring import services

    job_desk.pause(services(), queue)
    stdout().print(f"The queue {queue} is paused. Resume it with: aqa queue resume {queue}")


@app.command()
def resume(queue: Name) -> None:
    """Let a queue's jobs be taken again."""
    from server import job_desk
    from server.cli.console import stdout
    from server.cli.wiring import services

    job_desk.resume(services(), queue)
    stdout().print(f"The queue {queue} runs.")


@app.command("list")
def list_queues(as_json: Json = False) -> None:
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


@app.command()
def jobs(
    kind: Annotated[str, typer.Option(help="Only this kind, such as evaluate or judge-chunk.")] = "",
    state: Annotated[str, typer.Option(help="Only queued, running, done, failed or cancelled ones.")] = "",
    queue: Annotated[str, typer.Option(help="Only those of cpu or gpu.")] = "",
    subject: Annotated[str, typer.Option(help="Only those about this; a submission's id finds its parts too.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="How many, the newest first.")] = 30,
    as_json: Json = False,
) -> None:
    """List jobs, newest first, with who has them in hand and why they failed."""
    from core.errors import InvalidInput
    from core.queue import STATES, checked
    from server import job_desk
    from server.api.job_schemas import JobsOut
    from server.cli.console import print_json, stdout
    from server.cli.wiring import services
    from server.job_subjects import checked_kind

    if state and state not in STATES:
        raise InvalidInput(f"There is no state {state!r}.", f"States: {', '.join(STATES)}.")
    chosen = job_desk.Chosen(checked_kind(kind) if kind else "", state, checked(queue) if queue else "", subject)
    wired = services()
    with wired.database.reading() as session:
        found = job_desk.listed(wired, session, chosen, limit=limit)
    if as_json:
        print_json(JobsOut().dump({"jobs": found})["jobs"])
    elif found:
        _show(found)
    else:
        stdout().print("No job is like that.")


@app.command()
def retry(
    job: Annotated[list[int] | None, typer.Argument(help="The jobs' numbers.")] = None,
    all_failed: Annotated[bool, typer.Option("--all-failed", help="Every job that failed.")] = False,
    kind: Annotated[str, typer.Option(help="With --all-failed: only this kind.")] = "",
) -> None:
    """Queue failed or cancelled jobs again with fresh attempts; parts of one evaluation go together."""
    from core.errors import InvalidInput
    from core.text import counted
    from server import job_desk
    from server.cli.console import stdout
    from server.cli.wiring import services
    from server.job_subjects import checked_kind

    if bool(job) == all_failed:
        raise InvalidInput("Which jobs?", "Name their numbers, or say --all-failed.")
    if kind:
        checked_kind(kind)
    wired = services()
    if all_failed:
        done = job_desk.retry_all(wired, job_desk.Chosen(kind))
        stdout().print(f"{counted(done, 'job')} queued again.")
        return
    for each in job or []:
        _told(job_desk.retry(wired, each), "is queued again")


@app.command()
def cancel(job: Numbers) -> None:
    """End jobs that wait or run, and tell what they are for; parts of one evaluation go together."""
    from server import job_desk
    from server.cli.wiring import services

    wired = services()
    for each in job:
        _told(job_desk.cancel(wired, each), "is cancelled")


def _told(view: JobView, what: str) -> None:
    from server.cli.console import stdout

    stdout().print(f"Job {view.id} ({view.title}: {view.about}) {what}.", markup=False, soft_wrap=True)


def _show(found: list[JobView]) -> None:
    from server.cli.console import stdout, table

    numbers = ("Job", "Tried", "Time")
    shown = table("Jobs", "Job", "What", "Queue", "State", "Tried", "Time", "Worker or reason", right=numbers)
    for view in found:
        last = view.reason or (view.worker if view.state == "running" else "") or ""
        tried = f"{view.attempt} of {view.attempts}"
        shown.add_row(str(view.id), f"{view.title}: {view.about}", view.queue, view.state, tried, view.time, last)
    stdout().print(shown)
