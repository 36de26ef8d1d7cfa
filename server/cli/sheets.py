"""`aqa ratings sheet|open|close`: triples or revisions for raters, in files or on the rater page."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer


def sheet(
    benchmark: Annotated[str, typer.Option(help="The benchmark's id.")],
    out: Annotated[
        Path | None,
        typer.Option(help="The file to write: .csv, .jsonl or .parquet; without it the sheet is only kept."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="all, random, or (not in the editing track) stratified by where judge and answer match disagree."
        ),
    ] = "all",
    size: Annotated[int | None, typer.Option(min=1, help="How many triples (editing track: texts) to draw.")] = None,
    submission: Annotated[
        list[str] | None, typer.Option(help="From this submission; repeatable (default: all on the board).")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed draws the same ones.")] = 0,
    author: Annotated[str, typer.Option(help="Who draws it (default: the name you are logged in by).")] = "",
    before: Annotated[
        bool, typer.Option("--before", help="Editing track: also the passages before editing, beside the same reports.")
    ] = False,
) -> None:
    """Draw the next unrated triples; the probability of each is recorded with it. In the editing track, revisions."""
    from core.tracks import EDITING
    from server.cli.console import stdout
    from server.cli.ratings import login
    from server.cli.wiring import services
    from server.ratings import drawn

    wired = services()
    editing = wired.benchmarks.get(benchmark).track == EDITING
    if editing and out is not None:
        _of_revisions(benchmark, out, method, size, submission or [], seed, before)
        return
    made = drawn(wired, author or login(), benchmark, method, size, seed, submission or [], before)
    if out is not None:
        with written(out) as stream:
            wired.sheets.write(made.id, out.suffix.removeprefix("."), stream)
    where = f", written to {out}" if out else ""
    unrated = "texts to rate" if editing else "unrated triples"
    stdout().print(
        f"Sheet {made.id} of {benchmark}: drawn from {made.population:,} {unrated} ({made.method}){where}. "
        f"Give it to raters on the pages with: aqa ratings open {made.id}",
        markup=False,
        soft_wrap=True,
    )


def _of_revisions(
    benchmark: str, out: Path, method: str, size: int | None, submissions: list[str], seed: int, before: bool
) -> None:
    from core.errors import InvalidInput
    from core.text import counted
    from server.cli.console import stdout
    from server.cli.wiring import services
    from server.ratings import revision_sheet

    if method not in ("all", "random"):
        raise InvalidInput(f"Revisions are not drawn by the method {method!r}.", "Methods: all, random.")
    kind = out.suffix.removeprefix(".")
    data, count = revision_sheet(services(), benchmark, kind, submissions, size, seed, before)
    with written(out) as stream:
        stream.write(data)
    stdout().print(
        f"{counted(count, 'text')} of {benchmark} to rate, written to {out}. "
        "Filled in, it comes back by: aqa ratings preview",
        soft_wrap=True,
    )


def open_sheet(
    sheet: Annotated[int, typer.Argument(help="The sheet's number.")],
    note: Annotated[str, typer.Option(help="A sentence kept with the batch.")] = "",
    author: Annotated[str, typer.Option(help="Who opens it (default: the name you are logged in by).")] = "",
) -> None:
    """Give a sheet to the raters on the rater page; it closes when all on it has all its raters."""
    from server.cli.console import stdout
    from server.cli.ratings import login
    from server.cli.wiring import services

    batch = services().assignments.open(sheet, author or login(), note)
    stdout().print(
        f"Raters can work on it as batch {batch.id}. They sign in with a token: aqa token new --team NAME --role rater",
        soft_wrap=True,
    )


def close(batch: Annotated[int, typer.Argument(help="The batch's number.")]) -> None:
    """Let an open batch count as it is, before all on it has all its raters."""
    from server.cli.console import stdout
    from server.cli.wiring import services

    done = services().assignments.close(batch)
    stdout().print(
        f"Batch {done.id} of {done.benchmark_id} is closed and counts. Submissions it changed are queued.",
        markup=False,
        soft_wrap=True,
    )


@contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """A file that appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.partial")
    try:
        with unfinished.open("wb") as stream:
            yield stream
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
