"""`aqa judge calibrate`: what a judge's p learns from human labels, and a file for the judge `calibrated`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from scorer.judges.calibrated.report import Line, Report


def calibrate(
    key: Annotated[str, typer.Argument(help="The judge to calibrate, e.g. small, token-overlap.")],
    source: Annotated[
        Path | None, typer.Option("--in", help="JSONL of pairs with supported: true or false, and their source.")
    ] = None,
    benchmark: Annotated[str, typer.Option(help="Learn from the ratings of this benchmark instead of a file.")] = "",
    method: Annotated[str, typer.Option(help="platt, platt+length or isotonic.")] = "platt",
    out: Annotated[Path | None, typer.Option(help="Write the maps, for the judge calibrated:FILE.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of it as JSON.")] = False,
) -> None:
    """Learn from human labels what a judge's p amounts to; report what it gains on questions it did not see."""
    from dataclasses import asdict

    from core.errors import InvalidInput, Unavailable
    from scorer import judges
    from scorer.calibrating import learn, of_benchmark
    from scorer.judges.calibrated import judge as files
    from scorer.judges.calibrated.label_files import read_labelled
    from scorer.judges.calibrated.maps import METHODS
    from server.cli.console import print_json, progress, stdout
    from server.cli.wiring import services

    if method not in METHODS:
        raise InvalidInput(f"there is no method {method!r}", f"Methods: {', '.join(METHODS)}.")
    if (source is None) == (not benchmark):
        raise InvalidInput("Labels come from one place.", "Give either --in FILE or --benchmark ID.")
    wired = services()
    told = read_labelled(source) if source else of_benchmark(wired.database, wired.benchmarks, benchmark)
    loaded = judges.load(key)
    settings = wired.settings
    with progress("Judging") as tell:
        found = learn(
            wired.database, loaded, told, method, settings.bootstrap_resamples, settings.bootstrap_seed,
            settings.judge_chunk, tell,
        )  # fmt: skip
    if as_json:
        print_json(
            {"judge": loaded.signature, "signature": found.fit.signature, "lines": [asdict(x) for x in found.lines]}
        )
    else:
        _print(found, loaded.title)
    if out is not None:
        if found.fit.reason is not None:
            raise Unavailable(f"Nothing was written: {found.fit.reason}", "Bring in more ratings.")
        signature = files.write(out, key, loaded.signature, found.fit, told.groups, told.pairs)
        if not as_json:
            stdout().print(f"Written to {out}: use it as calibrated:{out}", markup=False, soft_wrap=True)
            stdout().print(signature, markup=False, soft_wrap=True)


def _print(found: Report, title: str) -> None:
    from scorer.judges.calibrated.maps import METHODS
    from server.cli.console import stdout

    console = stdout()
    console.print(f"{title}, calibrated by {METHODS[found.fit.method]}; {found.fit.n:,} labels", markup=False)
    if found.fit.whole is not None and found.fit.whole.falls:
        console.print("The map falls: a larger p went with fewer attributable answers.")
    for line in found.lines:
        _print_line(console, line)
    console.print(
        "Every figure is of questions whose labels the map did not see; intervals of the change are over questions. "
        "A rising map keeps the order of p, so the AUC moves only between folds."
    )


def _print_line(console: Any, line: Line) -> None:
    from scorer.judges.calibrated.gain import MEASURES
    from scorer.judges.calibrated.report import SCOPES
    from server.cli.console import table

    about = f"{SCOPES[line.scope]}: {line.n:,} pairs, {line.positive:,} attributable, {line.questions:,} questions"
    name = f"{line.source}: {about}" if line.source else about[:1].upper() + about[1:]
    if line.reason is not None:
        console.print(f"{name}. {line.reason}", markup=False)
        return
    numbers = ("Raw", "Calibrated", "Change", "95 %")
    shown = table(name, "Measure", *numbers, right=numbers)
    for gain in line.gains:
        better = "more is better" if MEASURES[gain.measure][1] else "less is better"
        ends = gain.interval
        interval = "no interval" if ends.low is None else f"{ends.low:+.3f} to {ends.high:+.3f}"
        values = ("undefined" if each is None else f"{each:.3f}" for each in (gain.raw, gain.calibrated))
        change = "undefined" if gain.difference is None else f"{gain.difference:+.3f}"
        shown.add_row(f"{MEASURES[gain.measure][0]} ({better})", *values, change, interval)
    console.print(shown)
