"""`aqa score`: score one file on this machine, without a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from scorer.outputs import Source


def score(
    file: Annotated[
        Path, typer.Argument(help="Predictions, or revised passages: CSV, TSV, JSONL, JSON or Parquet, also gzipped.")
    ],
    benchmark: Annotated[str, typer.Option(help="The benchmark's id.")],
    out: Annotated[Path, typer.Option(help="Folder for scores.json, examples.jsonl and manifest.json.")],
    judge: Annotated[str, typer.Option(help="The judge's key (default: the benchmark's, else AQA_JUDGE).")] = "",
    kind: Annotated[list[str] | None, typer.Option(help="Also write examples as csv or parquet; repeatable.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print scores.json and nothing else.")] = False,
) -> None:
    """Score a predictions file and write what is needed to check and replay it."""
    from core.errors import InvalidInput
    from scorer import judges
    from scorer.outputs import KINDS, from_evaluation, write_all
    from server.cli.console import print_json, progress, stdout
    from server.cli.report import accepted_report, print_scores
    from server.cli.wiring import services
    from submissions import tracks
    from submissions.formats import open_file
    from submissions.report import report_to_dict

    kinds = list(dict.fromkeys(["jsonl", *(kind or [])]))
    if unknown := [each for each in kinds if each not in KINDS]:
        raise InvalidInput(f"There is no kind {unknown[0]!r}.", f"Kinds: {', '.join(KINDS)}.")
    wired = services()
    chosen = wired.benchmarks.get(benchmark)
    with open_file(file) as stream:
        accepted = accepted_report(wired.intake.validate(benchmark, stream, file.name))
    spec = judge or wired.benchmarks.row(benchmark).judge or wired.settings.judge
    loaded = judges.load(spec)
    with progress("Judging") as tell:
        found = wired.scorer_with(loaded).score(chosen, tracks.of(chosen).rows(accepted), tell)
    outputs = from_evaluation(wired.database, chosen, accepted.digest, found, report_to_dict(accepted.report))
    document = write_all(outputs, out, _source(file, benchmark, spec, kinds), kinds)
    if as_json:
        print_json(document)
    else:
        print_scores(outputs, loaded.score_name, accepted.report, stdout())
        stdout().print(
            f"Written to {out}: scores.json, {', '.join(f'examples.{k}' for k in kinds)}, manifest.json",
            markup=False,
            soft_wrap=True,
        )


def _source(file: Path, benchmark: str, judge: str, kinds: list[str]) -> Source:
    import hashlib
    import shlex

    from scorer.outputs import Source

    parts = ["aqa", "score", file.name, "--benchmark", benchmark, "--judge", judge, "--out", "OUT"]
    for kind in kinds[1:]:
        parts += ["--kind", kind]
    data = file.read_bytes()
    return Source(file.name, hashlib.sha256(data).hexdigest(), len(data), shlex.join(parts))
