"""`aqa ratings`: batches of human ratings in and out. The local command line acts as a maintainer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from server.cli import raters, sheets

if TYPE_CHECKING:
    from submissions.ratings import Preview

app = typer.Typer(help="Human ratings: batches, raters, sheets.", no_args_is_help=True)
File = Annotated[Path, typer.Argument(help="Ratings: CSV, TSV, JSONL, JSON or Parquet, also gzipped.")]
Benchmark = Annotated[str, typer.Option(help="The benchmark's id.")]
Synthetic = Annotated[bool, typer.Option("--synthetic", help="No person made these ratings: say so everywhere.")]
Skip = Annotated[
    bool,
    typer.Option(
        "--skip-unknown",
        help="Leave out rows that cannot be rated: no answer, no attribution, unknown passage or revision.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]

app.command("sheet", rich_help_panel="Raters at work")(sheets.sheet)
app.command("open", rich_help_panel="Raters at work")(sheets.open_sheet)
app.command("close", rich_help_panel="Raters at work")(sheets.close)
app.command("agreement", rich_help_panel="Raters")(raters.agreement)
app.command("raters", rich_help_panel="Raters")(raters.list_raters)
app.command("leave-out", rich_help_panel="Raters")(raters.leave_out)
app.command("take-back", rich_help_panel="Raters")(raters.take_back)


@app.command()
def preview(
    file: File, benchmark: Benchmark, synthetic: Synthetic = False, skip_unknown: Skip = False, as_json: Json = False
) -> None:
    """Say what applying a file would change; nothing is written."""
    from server.cli.console import print_json
    from server.ratings import preview_document

    found = _preview(file, benchmark, synthetic, skip_unknown)
    if as_json:
        print_json(preview_document(found))
    else:
        _show(found)
    if not found.accepted:
        raise typer.Exit(3)


@app.command()
def apply(
    file: File,
    benchmark: Benchmark,
    note: Annotated[str, typer.Option(help="A sentence about these ratings, kept with them.")] = "",
    author: Annotated[str, typer.Option(help="Who applies them (default: the name you are logged in by).")] = "",
    synthetic: Synthetic = False,
    skip_unknown: Skip = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only; implies --yes.")] = False,
) -> None:
    """Apply a file as one batch and queue the evaluation of the submissions whose labels it changes."""
    from server.cli.console import print_json, stdout
    from server.cli.wiring import services
    from server.ratings import batch_documents
    from submissions.formats import open_file
    from submissions.report import refusal

    found = _preview(file, benchmark, synthetic, skip_unknown)
    if not as_json:
        _show(found)
    if not found.report.accepted:
        error = refusal(found.report)
        error.places = error.places if as_json else ()  # else they stand in the preview above
        raise error
    if not (yes or as_json):
        _confirm()
    wired = services()
    with open_file(file) as stream:
        batch = wired.ratings.apply(
            benchmark, stream, file.name, author=author or login(), note=note, synthetic=synthetic,
            skip_unknown=skip_unknown,
        )  # fmt: skip
    if as_json:
        with wired.database.reading() as session:
            print_json(batch_documents(session, [batch])[0] | {"submissions": list(found.submissions)})
    else:
        stdout().print(f"Applied as batch {batch.id}. {_waiting(len(found.submissions))}", markup=False, soft_wrap=True)


@app.command()
def revoke(
    batch: Annotated[int, typer.Argument(help="The batch's number.")],
    author: Annotated[str, typer.Option(help="Who revokes it (default: the name you are logged in by).")] = "",
) -> None:
    """Take a batch out of every label; its rows stay, and what it changed is evaluated again."""
    from server.cli.console import stdout
    from server.cli.wiring import services

    done = services().ratings.revoke(batch, author or login())
    stdout().print(
        f"Batch {done.id} of {done.benchmark_id} was revoked. Submissions it changed are queued.",
        markup=False,
        soft_wrap=True,
    )


@app.command("list")
def list_batches(
    benchmark: Annotated[str, typer.Option(help="Only this benchmark's.")] = "", as_json: Json = False
) -> None:
    """List the batches, oldest first."""
    from server.cli.console import print_json, stdout, table
    from server.cli.wiring import services
    from server.ratings import batch_documents

    wired = services()
    with wired.database.reading() as session:
        rows = batch_documents(session, wired.ratings.batches(benchmark or None))
    if as_json:
        print_json(rows)
        return
    numbers = ("Batch", "Ratings", "Items", "Raters")
    shown = table("Rating batches", *numbers[:1], "Benchmark", "State", *numbers[1:], "By", "Note", right=numbers)
    for row in rows:
        marks = [mark for mark in ("synthetic", "qualification") if row[mark]]
        state = ", ".join([row["state"], *marks])
        counts = (f"{row[key]:,}" for key in ("ratings", "triples", "raters"))
        shown.add_row(str(row["id"]), row["benchmark"], state, *counts, row["author"], row["note"])
    stdout().print(shown if rows else "There is no batch yet. Look at a file first: aqa ratings preview --help")


@app.command()
def export(
    benchmark: Benchmark,
    out: Annotated[Path, typer.Option(help="The file to write; its ending tells the kind: .csv, .jsonl, .parquet.")],
    what: Annotated[str, typer.Option(help="labels (the label cache) or ratings (every rating of every batch).")] = (
        "labels"
    ),
) -> None:
    """Write the label cache, or the ratings behind it, as CSV, JSON Lines or Parquet."""
    from core.errors import InvalidInput
    from server.cli.console import stdout
    from server.cli.wiring import services
    from submissions.ratings import kinds

    wired = services()
    chosen = wired.benchmarks.get(benchmark)
    writers = kinds.of(chosen).exports
    if what not in writers:
        raise InvalidInput(f"There is nothing called {what!r} to export.", f"Choose one of: {', '.join(writers)}.")
    with wired.database.reading() as session, sheets.written(out) as stream:
        writers[what](session, chosen, out.suffix.removeprefix("."), stream)
    stdout().print(f"Written to {out}.", markup=False, soft_wrap=True)


def login() -> str:
    """The name of whoever is logged in, where it can be told."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "command line"


def _confirm() -> None:
    import sys

    from core.errors import InvalidInput

    if not sys.stdin.isatty():
        raise InvalidInput("There is nobody to ask, so nothing was applied.", "Add --yes.")
    typer.confirm("Apply?", abort=True)


def _preview(file: Path, benchmark: str, synthetic: bool, skip_unknown: bool) -> Preview:
    from server.cli.wiring import services
    from submissions.formats import open_file

    with open_file(file) as stream:
        return services().ratings.preview(benchmark, stream, file.name, synthetic=synthetic, skip_unknown=skip_unknown)


def _show(found: Preview) -> None:
    from rich.markup import escape

    from core.tracks import EDITING, QA
    from server.cli.console import stdout
    from server.cli.report import print_report
    from server.ratings import HELD, RATED

    console, track = stdout(), EDITING if found.kind == EDITING else QA
    print_report(found.report, console)
    if found.applied_as is not None:
        console.print(f"[red]This very file was applied as batch {found.applied_as} and still counts.[/]")
    if not found.report.accepted:
        for sentence in found.report.fatal:
            console.print(f"[red]refused[/] {escape(sentence)}")
        return
    kind = f"{found.kind}, for qualification" if found.qualification else found.kind
    console.print(
        f"[bold]Ratings[/]  {found.ratings:,} ({kind}) on {found.triples:,} {RATED[track]} by "
        f"{len(found.raters)} raters"
    )
    console.print(
        f"  {found.new:,} new, {found.repeats:,} repeats, {len(found.conflicts):,} conflicts with earlier words"
    )
    for conflict in found.conflicts[:10]:
        words = ["Y" if word else "N" for word in (conflict.earlier, conflict.now)]
        who = conflict.rater or "pre-aggregated"
        console.print(
            f"  [yellow]row {conflict.row:,}[/] {who} said {words[0]} in batch {conflict.batch_id}, now {words[1]}: "
            f"{escape(conflict.question)} → {escape(conflict.answer)}"
        )
    console.print(f"  {len(found.unheld):,} {HELD[track]} that no submission holds")
    console.print(
        f"[bold]Effect[/]   {found.new_labels:,} new labels, {found.verdicts_changed:,} verdicts turned, "
        f"{len(found.submissions):,} submissions to evaluate again"
    )
    if found.left_out:
        console.print(f"  [yellow]left out by a maintainer:[/] {', '.join(found.left_out)}")


def _waiting(submissions: int) -> str:
    if not submissions:
        return "No submission's labels changed."
    return f"{submissions:,} submissions wait to be evaluated again, by a running service or `aqa worker`."
