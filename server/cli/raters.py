"""`aqa ratings agreement|raters|leave-out|take-back`: how far raters agree, and who counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Benchmark = Annotated[str, typer.Option(help="The benchmark's id.")]
Rater = Annotated[str, typer.Argument(help="The rater's pseudonym, or the name that stood in their files.")]
Author = Annotated[str, typer.Option(help="Who decides it (default: the name you are logged in by).")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]


def agreement(batch: Annotated[int, typer.Argument(help="The batch's number.")], as_json: Json = False) -> None:
    """Krippendorff's alpha, ties, and each rater against the majority or the known answers."""
    from core.tracks import WORDS
    from scorer.agreement_report import batch_agreement
    from server.cli.console import print_json, stdout, table
    from server.cli.wiring import services
    from server.ratings import agreement_document

    wired = services()
    with wired.database.reading() as session:
        told = batch_agreement(session, batch)
    found, track = agreement_document(told), wired.benchmarks.row(told.batch.benchmark_id).track
    if as_json:
        print_json(found)
        return
    numbers = ("Items", "Ratings", "Alpha", "Ties")
    shown = table(f"Agreement in batch {batch}", f"{WORDS[track].item}s".capitalize(), *numbers, right=numbers)
    for name, each in {"all": found["overall"], **found["by_type"]}.items():
        shown.add_row(name, f"{each['items']:,}", f"{each['ratings']:,}", _alpha(each), f"{each['ties']:,}")
    stdout().print(shown)
    if reason := found["overall"]["alpha_reason"]:
        stdout().print(f"[dim]Alpha: {reason}.[/]")
    _shares("Raters against the majority", found["overall"]["raters"])
    if found["accuracy"]:
        _shares("Raters against the known answers", found["accuracy"])


def list_raters(benchmark: Benchmark, as_json: Json = False) -> None:
    """List who was ever left out of a benchmark's labels, with the reason and what became of it."""
    from server.cli.console import print_json, stdout, table
    from server.cli.wiring import services
    from server.ratings import exclusion_document

    rows = [exclusion_document(row) for row in services().raters.history(benchmark)]
    if as_json:
        print_json(rows)
        return
    shown = table("Raters left out", "Rater", "Reason", "Left out", "Taken back")
    for row in rows:
        back = f"{row['taken_back_at'][:10]} by {row['taken_back_by']}" if row["taken_back_at"] else ""
        shown.add_row(row["rater"], row["reason"], f"{row['left_out_at'][:10]} by {row['left_out_by']}", back)
    stdout().print(shown if rows else "Nobody was ever left out.")


def leave_out(
    rater: Rater,
    benchmark: Benchmark,
    reason: Annotated[str, typer.Option(help="Why; kept with the decision.")] = "",
    author: Author = "",
) -> None:
    """Take a rater's ratings out of every label of a benchmark, past and to come."""
    from server.cli.console import stdout
    from server.cli.ratings import login
    from server.cli.wiring import services

    row = services().raters.leave_out(benchmark, rater, author or login(), reason)
    stdout().print(
        f"{row.rater} is left out of {benchmark}. Submissions whose labels changed are queued.",
        markup=False,
        soft_wrap=True,
    )


def take_back(rater: Rater, benchmark: Benchmark, author: Author = "") -> None:
    """Let a rater's ratings count again."""
    from server.cli.console import stdout
    from server.cli.ratings import login
    from server.cli.wiring import services

    row = services().raters.take_back(benchmark, rater, author or login())
    stdout().print(
        f"{row.rater} counts again on {benchmark}. Submissions whose labels changed are queued.",
        markup=False,
        soft_wrap=True,
    )


def _alpha(found: Mapping[str, Any]) -> str:
    return "n/a" if found["alpha"] is None else f"{found['alpha']:.3f}"


def _shares(title: str, shares: Sequence[Mapping[str, Any]]) -> None:
    from server.cli.console import stdout, table

    numbers = ("Ratings", "Agreed", "95 % interval")
    shown = table(title, "Rater", *numbers, right=numbers)
    for each in shares:
        known = each["share"] is not None
        share = f"{100 * each['share']:.1f} %" if known else "n/a"
        between = f"{100 * each['low']:.1f} – {100 * each['high']:.1f}" if known else each["reason"]
        shown.add_row(each["rater"], f"{each['n']:,}", share, between)
    stdout().print(shown)
