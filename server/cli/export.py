"""`aqa export`: a whole board with the scored outputs of every entry on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from scorer.outputs import Source
    from server.bootstrap import Services


def export(
    benchmark: Annotated[str, typer.Option(help="The benchmark's id.")],
    out: Annotated[Path, typer.Option(help="Folder to write; it may hold an earlier export.")],
    kind: Annotated[str, typer.Option(help="csv, json or parquet.")] = "csv",
) -> None:
    """Write leaderboard.KIND and, per entry on the board, submissions/ID/ with scores, examples and manifest."""
    from core.errors import InvalidInput
    from leaderboard import board
    from leaderboard.export import KINDS, write_board
    from scorer.outputs import from_stored, write_all
    from server.cli.console import progress, stdout
    from server.cli.wiring import services

    if kind not in KINDS:
        raise InvalidInput(f"There is no kind {kind!r}.", f"Kinds: {', '.join(KINDS)}.")
    wired = services()
    wired.benchmarks.get(benchmark)  # tells which ones there are
    with wired.database.reading() as session:
        found = board.rows(session, benchmark)
    out.mkdir(parents=True, exist_ok=True)
    with (out / f"leaderboard.{kind}").open("wb") as stream:
        write_board(found, kind, stream)
    rows_kind = "jsonl" if kind == "json" else kind
    with progress("Writing entries") as tell:
        for done, row in enumerate(found.rows, start=1):
            submission = row.entry.submission
            outputs = from_stored(wired.database, wired.benchmarks, submission)
            write_all(outputs, out / "submissions" / submission, _source(wired, submission), (rows_kind,))
            tell(done, len(found.rows))
    stdout().print(f"Written to {out}: leaderboard.{kind} and {len(found.rows):,} entries.", soft_wrap=True)


def _source(services: Services, submission_id: str) -> Source:
    """The stored file of a submission and the command that scores it again."""
    import shlex

    from core.tables import EvaluationRow, Submission
    from scorer.outputs import Source, judge_name

    with services.database.reading() as session:
        submission = session.get_one(Submission, submission_id)
        evaluation = session.get_one(EvaluationRow, submission.evaluation_id)
    name = submission.file_name or "predictions"
    judge = judge_name(evaluation.judge).partition("@")[0]
    command = ["aqa", "score", name, "--benchmark", submission.benchmark_id, "--judge", judge, "--out", "OUT"]
    return Source(name, submission.file_blob, services.blobs.size(submission.file_blob), shlex.join(command))
