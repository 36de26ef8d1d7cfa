"""`aqa import`: what others have published."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from server.bootstrap import Services
    from server.released import Imported

app = typer.Typer(help="Bring in what others have published.", no_args_is_help=True)


@app.command()
def released(
    path: Annotated[Path | None, typer.Argument(help="The paper's ratings.csv, or the zip or gzip around it.")] = None,
    benchmark: Annotated[str, typer.Option(help="The benchmark it belongs to.")] = "nq-open-dev",
    questions: Annotated[
        Path | None,
        typer.Option(help="JSONL of questions and answers, to make the benchmark with the release's passages."),
    ] = None,
    download: Annotated[bool, typer.Option("--download", help="Fetch the file from the paper's repository.")] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Score the systems now, or leave it to a worker.")] = (
        True
    ),
) -> None:
    """Make the paper's systems, with predictions, human labels, the released judgments and scores."""
    from core.errors import InvalidInput
    from server.cli.console import stderr
    from server.cli.wiring import services
    from server.released import import_released

    if (path is None) is not download:
        raise InvalidInput("Which file?", "Give its path, or --download and no path.")
    wired = services()
    with tempfile.TemporaryDirectory(dir=wired.settings.data_path) as folder, stderr().status("Reading") as status:
        file = path or _fetched(Path(folder))
        found = import_released(
            wired, file, benchmark, questions=questions,
            progress=lambda what, done, total: status.update(f"{what}: {done:,} of {total:,}" if total > 1 else what),
        )  # fmt: skip
    if wait:
        _score(wired, found)
    _show(found, wait)


def _fetched(folder: Path) -> Path:
    from server.cli.console import progress
    from server.fetch.released import fetch_released

    with progress("Downloading", "bytes") as tell:
        return fetch_released(folder, tell)


def _score(services: Services, found: Imported) -> None:
    from server.cli.console import progress
    from server.worker import Worker

    worker, total = Worker(services), len(found.systems)
    with progress("Scoring") as tell:
        done = 0
        while worker.run_one():
            done += 1
            tell(done, max(done, total))


def _show(found: Imported, waited: bool) -> None:
    from server.cli.console import stdout
    from server.cli.report import print_report

    console = stdout()
    print_report(found.report, console)
    new = sum(submission is not None for submission in found.systems.values())
    console.print(f"[bold]Systems[/]   {len(found.systems):,}, {new:,} of them new")
    batch = f"batch {found.batch}" if found.batch else "no new batch"
    console.print(f"[bold]Labels[/]    {found.labels:,} ({batch})")
    console.print(f"[bold]Judgments[/] {found.judgments:,}")
    console.print("Scored." if waited else "The systems wait to be scored, by a running service or `aqa worker`.")
