"""`aqa judge`: judge any file of pairs, or check a judge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup

from server.cli.judge_calibrate import calibrate
from server.cli.judge_check import check


class KeyOrCommand(TyperGroup):
    """Lets `aqa judge KEY …` stand for `aqa judge run KEY …`."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Put `run` before anything that is neither a command nor an option of the group."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=KeyOrCommand, no_args_is_help=True, help="Judge pairs: `aqa judge KEY --in FILE --out FILE`.")
app.command("check")(check)
app.command("calibrate")(calibrate)


@app.command("run")
def judge(
    key: Annotated[str, typer.Argument(help="The judge, e.g. token-overlap, small, t5:ID@REVISION.")],
    source: Annotated[Path, typer.Option("--in", help="JSONL of question, answer, passage or premise, hypothesis.")],
    out: Annotated[Path, typer.Option(help="JSONL to write: each row with p, label and flags.")],
) -> None:
    """Judge a file of pairs in its order; run again after a stop, it goes on where it was."""
    import os

    from core.errors import InvalidInput
    from scorer import judges
    from scorer.judgments import JudgmentCache
    from scorer.pair_files import judged_lines, read_pairs
    from server.cli.console import progress, stdout
    from server.cli.wiring import services

    if out.is_dir() or not out.absolute().parent.is_dir():
        raise InvalidInput(f"{out} cannot be written.", "Name a file in a folder that exists.")
    rows, pairs = read_pairs(source)
    wired = services()
    loaded = judges.load(key)
    with progress("Judging") as tell:
        found = JudgmentCache(wired.database, loaded, wired.settings.judge_chunk).judge_all(pairs, tell)
    unfinished = out.with_name(out.name + ".partial")
    with unfinished.open("wb") as stream:
        stream.writelines(judged_lines(rows, found))
    os.replace(unfinished, out)
    supported = sum(judgment.p >= 0.5 for judgment in found)
    share = f"{100 * supported / len(found):.1f} %"
    stdout().print(
        f"{len(found):,} pairs judged by {loaded.title}: {supported:,} ({share}) with p ≥ 0.5.", markup=False
    )
    stdout().print(f"Written to {out}", markup=False, soft_wrap=True)
