"""`aqa system`: the catalog of reference systems, and running one on a benchmark."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core import states

if TYPE_CHECKING:
    from core.tables import RunRow
    from server.bootstrap import Services
    from systems.config import SystemConfig

app = typer.Typer(help="Reference systems: list them, show one, run one.", no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]
Seconds = Annotated[float | None, typer.Option(min=0, help="Most seconds to spend over all attempts.")]
Tokens = Annotated[int | None, typer.Option(min=0, help="Most tokens, read and written, to spend.")]


@app.command("list")
def list_all(
    benchmark: Annotated[
        str, typer.Option(help="Only those that can run here, and which have entered something.")
    ] = "",
    as_json: Json = False,
) -> None:
    """List the catalog."""
    from rich.text import Text

    from core.architectures import ARCHITECTURES
    from server.cli.console import print_json, stdout, table
    from server.cli.wiring import services
    from server.system_runs import described, told
    from systems.catalog import catalog, find

    shown = told(services(), benchmark) if benchmark else [described(each) for each in catalog().values()]
    if as_json:
        print_json(shown)
        return
    console, entered = stdout(), {each["name"] for each in shown if each.get("entered")}
    for architecture, title in ARCHITECTURES.items():
        some = [find(each["name"]) for each in shown if each["architecture"] == architecture]
        listed = table(title, "Name", "What it is", *(["Here"] if benchmark else []), whole=("Name", "Here"))
        for config in some:
            here = ["entered" if config.name in entered else "not yet run"] if benchmark else []
            listed.add_row(config.name, Text.assemble(config.title, (_needed(config), "dim")), *here)
        if some:
            console.print(listed)
    console.print(
        "What a system needs cannot be downloaded; hand it in with --model or --set. More on one: aqa system show NAME",
        markup=False, soft_wrap=True,
    )  # fmt: skip


@app.command()
def show(name: Annotated[str, typer.Argument(help="The system's name.")], as_json: Json = False) -> None:
    """Show one system: each component, and whether the paper states it or we chose it."""
    from server.cli.console import print_json, stdout, table
    from server.system_runs import described
    from systems.catalog import find

    config = find(name)
    if as_json:
        print_json(described(config))
        return
    stdout().print(f"{config.name}: {config.title}", style="bold", markup=False, soft_wrap=True)
    about = [f"{config.architecture}, supervision: {config.supervision or 'none'}", f"Source: {config.source}"]
    about += ["Uses an AutoAIS judge inside."] * config.uses_autoais + [config.notes] * bool(config.notes)
    stdout().print("\n".join(about), markup=False, soft_wrap=True)
    shown = table("", "Component", "Value", "Origin", "Why")
    for field, value in config.components().items():
        text = f"to be handed in: {value[1:]}" if str(value).startswith("?") else str(value)
        shown.add_row(field, text, config.mark(field), (config.inferred or {}).get(field, ""))
    stdout().print(shown)


@app.command()
def run(
    name: Annotated[str, typer.Argument(help="The system's name.")],
    benchmark: Annotated[str, typer.Option(help="The benchmark's id.")],
    limit: Annotated[int | None, typer.Option(min=1, help="Answer only the first so many questions.")] = None,
    model: Annotated[str, typer.Option(help="In place of the configured model: owner/name@revision or a folder.")] = "",
    change: Annotated[
        list[str] | None, typer.Option("--set", help="COMPONENT=VALUE in place of the configured one; repeatable.")
    ] = None,
    exemplars: Annotated[
        Path | None, typer.Option(help="JSONL of training questions in place of the benchmark's own.")
    ] = None,
    judge: Annotated[str, typer.Option(help="The judge for reranked systems (default: AQA_JUDGE).")] = "",
    seed: Annotated[int, typer.Option(help="For whatever is drawn.")] = 0,
    seconds: Seconds = None,
    tokens: Tokens = None,
    team: Annotated[str, typer.Option(help="Whose entry it is (default: the reference systems' team).")] = "",
    publish: Annotated[bool, typer.Option("--publish", help="Show it on the board once it is scored.")] = False,
    queue: Annotated[str, typer.Option(help="The queue of its job: cpu or gpu.")] = "cpu",
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Work here until it is scored, or only queue it.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Run a system; its predictions enter by the same door as anybody's file."""
    from server import auth, runs
    from server.cli.wiring import services

    changes = _changes(change or [], model)
    wired = services()
    plan = runs.RunPlan(changes, limit, seed, seconds, tokens, judge=judge, publish=publish)
    team_id = None
    if team:
        with wired.database.reading() as session:
            team_id = auth.find_team(session, team).id
    identifier = runs.start(wired, name, benchmark, plan, team_id=team_id, exemplars=exemplars, queue=queue)
    _finish(wired, identifier, queue, wait, as_json)


@app.command()
def resume(
    id: Annotated[str, typer.Argument(help="The run's id.")],
    seconds: Seconds = None,
    tokens: Tokens = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Work here until it is scored, or only queue it.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Go on with a run that stopped, failed or ran out of its budget; what it has answered is kept."""
    from server import runs
    from server.cli.wiring import services

    wired = services()
    runs.resume(wired, id, seconds=seconds, tokens=tokens)
    _finish(wired, id, "cpu", wait, as_json)


@app.command("runs")
def list_runs(as_json: Json = False) -> None:
    """List the runs here, newest first."""
    from sqlalchemy import select

    from core.tables import RunRow
    from server.cli.console import print_json, stdout, table
    from server.cli.wiring import services

    with services().database.reading() as session:
        rows = list(session.scalars(select(RunRow).order_by(RunRow.created_at.desc())))
    if as_json:
        print_json([_run_as_dict(row) for row in rows])
        return
    shown = table("Runs", "Id", "System", "Benchmark", "State", "Stage", "Submission")
    for row in rows:
        shown.add_row(row.id, row.system, row.benchmark_id, row.state, row.stage, row.submission_id or "")
    stdout().print(shown if rows else "There is no run yet. Start one: aqa system run --help")


def _needed(config: SystemConfig) -> str:
    """What stands under a system's title: what has to be handed in, if anything."""
    return f"\nneeds: {', '.join(config.lacks())}" if config.lacks() else "\nruns as it is"


def _changes(given: list[str], model: str) -> dict[str, str]:
    from core.errors import InvalidInput

    changes = {"model": model} if model else {}
    for each in given:
        field, equals, value = each.partition("=")
        if not equals:
            raise InvalidInput(f"--set {each} names no value.", "Write it as COMPONENT=VALUE.")
        changes[field] = value
    for field, value in changes.items():
        prefix, _, path = value.rpartition(":")
        if path and prefix in ("", "answers", "transformers") and Path(path).expanduser().exists():
            changes[field] = f"{prefix}:{Path(path).expanduser().absolute()}".lstrip(":")
    return changes


def _finish(wired: Services, identifier: str, queue: str, wait: bool, as_json: bool) -> None:
    from server.cli.console import print_json, stdout

    row = _work(wired, identifier, queue) if wait else _get(wired, identifier)
    if as_json:
        print_json(_run_as_dict(row))
    else:
        _print_run(row)
    if row.submission_id is not None and wait and not as_json:
        from server.cli.doors import door
        from server.cli.report import print_entry, print_stored_scores

        local = door("", "", "")
        entry = local.status(row.submission_id)
        print_entry(entry, stdout())
        if entry["state"] == states.SCORED:
            print_stored_scores(local.scores(row.submission_id), stdout())
    if row.state == "failed":
        raise typer.Exit(1)


def _work(wired: Services, identifier: str, queue: str) -> RunRow:
    """Work in a thread until the run and its scoring have ended, and show how far it is."""
    import threading

    from server.cli.console import stderr
    from server.worker import Worker

    worker = Worker(wired, tuple(dict.fromkeys((queue, "cpu"))))
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    console, told = stderr(), ""
    try:
        with console.status("waiting for a worker") as status:
            while not _ended(wired, row := _get(wired, identifier)):
                stage = row.stage if row.state in ("queued", "running") else "scoring"
                status.update(f"{row.system}: {stage}")
                kind = stage.partition(":")[0]
                if not console.is_terminal and kind != told:  # a log wants each stage once, not a spinner
                    console.print(f"{row.system}: {stage}", markup=False, soft_wrap=True)
                    told = kind
                thread.join(0.25)
    except KeyboardInterrupt:
        worker.stop()
        worker.give_back()
        console.print(f"Stopped. Go on with: aqa system resume {identifier}", markup=False, soft_wrap=True)
        console.file.flush()
        os._exit(130)  # models and endpoints at work in other threads would keep the process for minutes
    finally:
        worker.stop()
    thread.join(10)
    return row


def _ended(wired: Services, row: RunRow) -> bool:
    from core.tables import Submission

    if row.state in ("queued", "running"):
        return False
    if row.submission_id is None:
        return True
    with wired.database.reading() as session:
        submission = session.get(Submission, row.submission_id)
    return submission is None or submission.state in states.FINISHED


def _get(wired: Services, identifier: str) -> RunRow:
    from server import runs

    return runs.get(wired, identifier)


def _print_run(row: RunRow) -> None:
    from server.cli.console import stdout

    lines = [f"Run {row.id}: {row.system} on {row.benchmark_id}: {row.state}"]
    if row.reason:
        lines.append(row.reason)
    if told := row.details:
        lines.append(
            f"{told['answered']:,} questions answered, {told['attributed']:,} attributed, in {told['seconds']:.1f} s; "
            f"{told['prompt_tokens']:,} tokens read, {told['new_tokens']:,} written"
        )
        lines += [f"  {count:,} × {flag}" for flag, count in told["flags"].items()]
    stdout().print("\n".join(lines), markup=False, soft_wrap=True)


def _run_as_dict(row: RunRow) -> dict[str, Any]:
    fields = (
        "id", "system", "benchmark_id", "state", "stage", "progress", "reason", "plan", "details", "submission_id",
    )  # fmt: skip
    return {name: getattr(row, name) for name in fields}
