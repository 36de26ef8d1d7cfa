"""`aqa benchmark`: add, list and show benchmarks, or download a real one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from core.tables import BenchmarkRow

app = typer.Typer(help="Benchmarks: questions, references and the corpus they are answered from.", no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]


@app.command()
def add(
    id: Annotated[str, typer.Option(help="Its id: lower-case letters, digits, '.', '_' and '-'.")],
    questions: Annotated[Path, typer.Option(help='JSONL of {"question", "answer": [..], "id"?, "type"?}.')],
    corpus: Annotated[list[Path], typer.Option(help="JSONL of passages, plain, .gz or .zip; repeat for more shards.")],
    rated: Annotated[Path | None, typer.Option(help="The questions humans rate, one id or question a line.")] = None,
    exemplars: Annotated[Path | None, typer.Option(help="JSONL of questions that systems may learn from.")] = None,
    raters_per_item: Annotated[int, typer.Option(min=1, help="How many humans rate each answer.")] = 5,
    minimum_coverage: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of questions an entry must answer to be ranked.")
    ] = 0.95,
    title: Annotated[str, typer.Option(help="Its name for people [default: the id].")] = "",
    description: Annotated[str, typer.Option(help="One sentence about it.")] = "",
    synthetic: Annotated[
        bool, typer.Option("--synthetic", help="Its human ratings are simulated: say so everywhere.")
    ] = False,
) -> None:
    """Add a benchmark, all or nothing; adding the same content again changes nothing."""
    from core.benchmark import NewBenchmark
    from core.errors import NotFound
    from server.cli.console import progress, stdout
    from server.cli.wiring import services

    for path in (questions, *corpus, *(extra for extra in (rated, exemplars) if extra)):
        if not path.is_file():
            raise NotFound(f"There is no file {path}.", "Check the path.")
    new = NewBenchmark(
        id, questions, corpus, rated, exemplars, raters_per_item, minimum_coverage, title, description, synthetic
    )
    wired = services()
    with progress("Indexing the corpus", "bytes") as tell:
        wired.benchmarks.add(new, tell)
    stdout().print(_details(_row(wired.benchmarks.all(), id)))


@app.command("list")
def list_all(as_json: Json = False) -> None:
    """List the benchmarks here."""
    from server.cli.console import print_json, stdout, table
    from server.cli.wiring import services

    rows = services().benchmarks.all()
    if as_json:
        print_json([_as_dict(row) for row in rows])
        return
    shown = table(
        "Benchmarks", "Id", "Title", "Questions", "Rated", "Passages", right=("Questions", "Rated", "Passages")
    )
    for row in rows:
        shown.add_row(row.id, _title(row), f"{row.question_count:,}", f"{row.rated_count:,}", f"{row.corpus_size:,}")
    stdout().print(shown if rows else "There is no benchmark yet. Add one: aqa benchmark add --help")


@app.command()
def show(id: Annotated[str, typer.Argument(help="The benchmark's id.")], as_json: Json = False) -> None:
    """Show one benchmark with its digests."""
    from server.cli.console import print_json, stdout
    from server.cli.wiring import services

    benchmarks = services().benchmarks
    benchmarks.get(id)  # says which ones there are if this one is not
    row = _row(benchmarks.all(), id)
    if as_json:
        print_json(_as_dict(row))
    else:
        stdout().print(_details(row))


def _row(rows: list[BenchmarkRow], benchmark_id: str) -> BenchmarkRow:
    return next(row for row in rows if row.id == benchmark_id)


def _title(row: BenchmarkRow) -> str:
    from rich.markup import escape

    return escape(row.title) + (" [yellow](synthetic ratings)[/]" if row.synthetic else "")


def _details(row: BenchmarkRow) -> Any:
    from rich.markup import escape
    from rich.table import Table

    shown = Table(box=None, show_header=False, pad_edge=False)
    shown.add_column(style="dim")
    shown.add_column(overflow="fold")
    shown.add_row("Benchmark", f"[bold]{row.id}[/]")
    shown.add_row("Title", _title(row))
    if row.description:
        shown.add_row("Description", escape(row.description))
    shown.add_row("Questions", f"{row.question_count:,}, of which humans rate {row.rated_count:,}")
    shown.add_row("Raters per item", str(row.raters_per_item))
    shown.add_row("Ranked from", f"{row.minimum_coverage:.0%} of the questions answered")
    shown.add_row("Passages", f"{row.corpus_size:,}")
    shown.add_row("Content hash", row.content_hash)
    shown.add_row("Corpus digest", row.corpus_digest)
    return shown


def _as_dict(row: BenchmarkRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "title": row.title,
        "description": row.description,
        "content_hash": row.content_hash,
        "corpus_digest": row.corpus_digest,
        "questions": row.question_count,
        "rated": row.rated_count,
        "passages": row.corpus_size,
        "raters_per_item": row.raters_per_item,
        "minimum_coverage": row.minimum_coverage,
        "synthetic_ratings": row.synthetic,
        "created_at": row.created_at.isoformat(),
    }
