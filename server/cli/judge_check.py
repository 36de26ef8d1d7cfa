"""`aqa judge check`: how a judge compares with the paper's released scores."""

from __future__ import annotations

from typing import Annotated

import typer


def check(
    key: Annotated[str, typer.Argument(help="The judge to check, e.g. true-t5-xxl, small.")],
    benchmark: Annotated[str, typer.Option(help="A benchmark into which the released ratings were imported.")],
    limit: Annotated[int, typer.Option(min=0, help="Pairs to check, drawn at random; 0 means all.")] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    flips: Annotated[int, typer.Option(min=0, help="Differing decisions to list.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of it as JSON.")] = False,
) -> None:
    """Compare a judge with the T5-11B scores that the paper released: agreement, correlation, flips."""
    from dataclasses import asdict

    from scorer import judge_check, judges
    from server.cli.console import print_json, progress, stdout, table
    from server.cli.wiring import services

    wired = services()
    loaded = judges.load(key)
    with progress("Judging") as tell:
        found = judge_check.check(
            wired.database, wired.benchmarks, benchmark, loaded, limit, seed, wired.settings.judge_chunk, tell
        )
    if as_json:
        print_json({"judge": loaded.signature, **asdict(found)})
        return
    console = stdout()
    console.print(f"{loaded.title} against the released T5-11B scores, {found.pairs:,} pairs", markup=False)
    console.print(
        f"Decisions that agree: {100 * found.agreement:.1f} %; largest difference of p {found.largest_difference:.3f}"
    )
    console.print(f"Correlation of p: Pearson {_number(found.pearson)}, Spearman {_number(found.spearman)}")
    if found.flips and flips:
        numbers = ("Released p", "This judge's p")
        shown = table(f"{len(found.flips):,} flips, widest first", "Question", "Answer", *numbers, right=numbers)
        for flip in found.flips[:flips]:
            shown.add_row(flip.question, flip.answer, f"{flip.released:.3f}", f"{flip.judge:.3f}")
        console.print(shown)


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
