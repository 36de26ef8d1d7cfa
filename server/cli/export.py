"""`aqa export`: a whole board with the scored outputs of every entry on it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def export(
    benchmark: Annotated[str, typer.Option(help="The benchmark's id.")],
    out: Annotated[Path, typer.Option(help="Folder to write; it may hold an earlier export.")],
    kind: Annotated[str, typer.Option(help="csv, json or parquet.")] = "csv",
) -> None:
    """Write leaderboard.KIND and, per entry on the board, submissions/ID/ with scores, examples and manifest."""
    from core.folders import appearing_together
    from leaderboard import board, exports
    from scorer.outputs import from_stored, write_all
    from server.cli.console import progress, stdout
    from server.cli.wiring import services
    from server.results import source_of

    wired = services()
    wired.benchmarks.get(benchmark)  # tells which ones there are
    with wired.database.reading() as session:
        found = board.rows(session, benchmark)
    data, _ = exports.export(found, kind)
    rows_kind = "jsonl" if kind == "json" else kind
    with progress("Writing entries") as tell, appearing_together(out) as aside:
        (aside / f"leaderboard.{kind}").write_bytes(data)
        for done, row in enumerate(found.rows, start=1):
            submission = row.entry.submission
            outputs = from_stored(wired.database, wired.benchmarks, submission)
            write_all(outputs, aside / "submissions" / submission, source_of(wired, submission), (rows_kind,))
            tell(done, len(found.rows))
    stdout().print(
        f"Written to {out}: leaderboard.{kind} and {len(found.rows):,} entries.",
        markup=False,
        soft_wrap=True,
    )
