"""`aqa benchmark`: add, list and show benchmarks, or download a real one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from core.tables import BenchmarkRow
    from server.fetch.nq_open import Plan

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
    title: Annotated[str, typer.Option(help="Its name for people (default: the id).")] = "",
    description: Annotated[str, typer.Option(help="One sentence about it.")] = "",
    synthetic: Annotated[
        bool, typer.Option("--synthetic", help="Its human ratings are simulated: say so everywhere.")
    ] = False,
    track: Annotated[
        str,
        typer.Option(help='qa, or editing: then --questions is JSONL of {"text", "id"?, "context"?: [..], "type"?}.'),
    ] = "qa",
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
        id, questions, corpus, rated, exemplars, raters_per_item, minimum_coverage, title, description, synthetic, track
    )
    wired = services()
    with progress("Indexing the corpus", "bytes") as tell:
        wired.benchmarks.add(new, tell)
    stdout().print(_details(_row(wired.benchmarks.all(), id)))


@app.command("list")
def list_all(as_json: Json = False) -> None:
    """List the benchmarks here."""
    from rich.text import Text

    from server.cli.console import print_json, stdout, table
    from server.cli.wiring import services

    rows = services().benchmarks.all()
    if as_json:
        print_json([_as_dict(row) for row in rows])
        return
    shown = table(
        "Benchmarks", "Id", "Title", "Track", "Items", "Rated", "Passages", right=("Items", "Rated", "Passages")
    )
    for row in rows:
        title = Text.from_markup(_title(row))
        counts = (f"{count:,}" for count in (row.question_count, row.rated_count, row.corpus_size))
        shown.add_row(row.id, title, row.track, *counts)
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


@app.command()
def download(
    name: Annotated[str, typer.Argument(help="Which one: nq-open-dev.")],
    id: Annotated[str, typer.Option(help="The id to add it under (default: its name).")] = "",
    rated: Annotated[Path | None, typer.Option(help="The questions humans rate, one a line (default: all).")] = None,
    corpus_url: Annotated[str, typer.Option(help="Another place to fetch the corpus from.")] = "",
    corpus_sha256: Annotated[str, typer.Option(help="Refuse a corpus with another sha256.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be fetched, and its size.")] = False,
) -> None:
    """Fetch a real benchmark and add it; run again after a stop, it goes on where it was."""
    from core.errors import NotFound
    from server.cli.console import progress, stdout
    from server.cli.wiring import services
    from server.fetch import nq_open

    if name != "nq-open-dev":
        raise NotFound(f"There is no benchmark {name!r} to download.", "There is: nq-open-dev.")
    wired = services()
    folder = wired.settings.data_path / "downloads" / name
    planned = nq_open.plan(corpus_url or nq_open.CORPUS_URL)
    stdout().print(_plan(planned, folder))
    if dry_run:
        return
    questions, count = nq_open.questions(planned, folder)
    if count != nq_open.QUESTIONS:
        stdout().print(f"[yellow]Note:[/] it has {count:,} questions; the split is known with {nq_open.QUESTIONS:,}.")
    with progress("Fetching the corpus", "bytes") as tell:
        corpus = nq_open.corpus(planned, folder, tell, corpus_sha256)
    with progress("Indexing the corpus", "bytes") as tell:
        nq_open.add(wired.benchmarks, id or name, questions, corpus, rated, tell)
    stdout().print(_details(_row(wired.benchmarks.all(), id or name)))
    stdout().print(f"The fetched files in {folder} are not needed any more.", soft_wrap=True, markup=False)


def _plan(planned: Plan, folder: Path) -> Any:
    import shutil

    from rich.console import Group
    from rich.filesize import decimal

    from server.cli.console import table
    from server.fetch import nq_open

    shown = table("To fetch", "What", "From", "Size", right=("Size",))
    shown.add_row("Questions", f"{nq_open.DATASET}: {planned.questions_file}", decimal(planned.questions_size))
    size = planned.corpus.size
    shown.add_row("Corpus", planned.corpus.url, decimal(size) if size is not None else "not told")
    there = next(parent for parent in (folder, *folder.parents) if parent.is_dir())
    free = decimal(shutil.disk_usage(there).free)
    return Group(shown, f"Free space in {there}: {free}. The index needs about the size of the unpacked corpus.")


def _row(rows: list[BenchmarkRow], benchmark_id: str) -> BenchmarkRow:
    return next(row for row in rows if row.id == benchmark_id)


def _title(row: BenchmarkRow) -> str:
    from rich.markup import escape

    return escape(row.title) + (" [yellow](synthetic ratings)[/]" if row.synthetic else "")


def _details(row: BenchmarkRow) -> Any:
    from rich.markup import escape
    from rich.table import Table

    from core.tracks import QA, TRACKS, WORDS

    shown = Table(box=None, show_header=False, pad_edge=False)
    shown.add_column(style="dim")
    shown.add_column(overflow="fold")
    shown.add_row("Benchmark", f"[bold]{row.id}[/]")
    shown.add_row("Title", _title(row))
    if row.description:
        shown.add_row("Description", escape(row.description))
    words = WORDS[row.track]
    shown.add_row("Track", TRACKS[row.track])
    shown.add_row(words.items.capitalize(), f"{row.question_count:,}, of which humans rate {row.rated_count:,}")
    shown.add_row("Raters", f"{row.raters_per_item} per {'answer' if row.track == QA else 'revision'}")
    shown.add_row("Ranked from", f"{row.minimum_coverage:.0%} of the {words.items} {words.done}")
    shown.add_row("Passages", f"{row.corpus_size:,}")
    shown.add_row("Content hash", row.content_hash)
    shown.add_row("Corpus digest", row.corpus_digest)
    return shown


def _as_dict(row: BenchmarkRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "track": row.track,
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
