"""`aqa board`: dated snapshots of a benchmark's board."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="Dated snapshots of the boards.")
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]


@app.command()
def snapshot(
    benchmark: Annotated[str, typer.Option(help="The benchmark's id; without it, every benchmark.")] = "",
    as_json: Json = False,
) -> None:
    """Keep the board as it is now, if it has changed since the last snapshot."""
    from core.text import counted
    from server.cli.console import print_json, stdout
    from server.cli.wiring import services
    from server.snapshots import keep

    wired = services()
    ids = [wired.benchmarks.get(benchmark).id] if benchmark else [each.id for each in wired.benchmarks.all()]
    made = {each: keep(wired.database, each) for each in ids}
    if as_json:
        print_json({each: found and {"id": found.id, "systems": found.systems, "digest": found.digest}
                    for each, found in made.items()})  # fmt: skip
        return
    for each, found in made.items():
        said = "nothing has changed" if found is None else f"snapshot {found.id}, {counted(found.systems, 'system')}"
        stdout().print(f"{each}: {said}.", markup=False)


@app.command("list")
def listed(benchmark: Annotated[str, typer.Option(help="The benchmark's id.")], as_json: Json = False) -> None:
    """List a benchmark's snapshots, newest first."""
    from rich.table import Table

    from leaderboard.snapshots import taken
    from server.cli.console import print_json, stdout
    from server.cli.wiring import services

    with services().database.reading() as session:
        found = taken(session, benchmark)
    if as_json:
        print_json([{"id": each.id, "taken_at": each.taken_at.isoformat(), "systems": each.systems,
                     "digest": each.digest} for each in found])  # fmt: skip
        return
    if not found:
        stdout().print("No snapshot has been taken yet: aqa board snapshot takes one.", markup=False)
        return
    shown = Table("Snapshot", "Taken (UTC)", "Systems", "Content", box=None)
    for each in found:
        shown.add_row(str(each.id), f"{each.taken_at:%Y-%m-%d %H:%M}", f"{each.systems:,}", each.digest[:12])
    stdout().print(shown)
