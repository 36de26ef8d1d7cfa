"""`aqa rescore`: score a benchmark's entries anew under another judge or version, compare, and switch at once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from core.text import counted

if TYPE_CHECKING:
    from core.tables import Rescore
    from leaderboard.side_by_side import Change, Line, SideBySide
    from server.bootstrap import Services

Number = Annotated[int | None, typer.Argument(help="The rescore's number (default: the one that is open).")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]


class StartOrCommand(TyperGroup):
    """Lets `aqa rescore --benchmark ID` stand for `aqa rescore start --benchmark ID`."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Put `start` before options that are not the group's own."""
        if args and args[0].startswith("-") and args[0] != "--help":
            args = ["start", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=StartOrCommand, no_args_is_help=True,
    help="Score anew under another judge or version beside what is shown: `aqa rescore --benchmark ID`.",
)  # fmt: skip


@app.command()
def start(
    benchmark: Annotated[str, typer.Option(help="The benchmark's id.")],
    judge: Annotated[str, typer.Option(help="The judge's key or spec (default: the benchmark's own).")] = "",
    released_too: Annotated[
        bool, typer.Option("--released-too", help="Judge anew what rests on the paper's released judgments as well.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would do.")] = False,
) -> None:
    """Queue the scoring of all entries; what the board shows stays until it is promoted."""
    from server import rescores
    from server.cli.console import progress, stdout
    from server.cli.wiring import services
    from server.rescore_reading import progress_of

    wired = services()
    if dry_run:
        with progress("Looking at entries") as tell:
            found = rescores.plan(wired, benchmark, judge, released_too, tell)
        _show_plan(found)
        return
    made = rescores.start(wired, benchmark, judge, released_too)
    with wired.database.reading() as session:
        done, _, total = progress_of(session, made)
    stdout().print(
        f"Rescore {made.id} of {benchmark} by {made.judge}: {total - done:,} of {total:,} entries wait to be scored, "
        "by a running service or `aqa worker`. The board stays as it is.\nSee old and new: aqa rescore status",
        markup=False, soft_wrap=True,
    )  # fmt: skip


@app.command()
def status(
    number: Number = None,
    benchmark: Annotated[str, typer.Option(help="Only this benchmark's.")] = "",
    rank_by: Annotated[str, typer.Option(help="The metric whose ranks are told (default: the judged one).")] = "",
    as_json: Json = False,
) -> None:
    """Show how far a rescore is, and old and new of every system; without an open one, list all."""
    from server.api.rescore_schemas import ComparedOut
    from server.cli.console import print_json
    from server.cli.wiring import services
    from server.rescore_reading import compared, document

    wired = services()
    row = _row(wired, number, benchmark, needed=False)
    if row is None:
        return _list(wired, benchmark, as_json)
    with wired.database.reading() as session:
        told, found = document(session, row), compared(session, row, wired.differences, rank_by)
    if as_json:
        print_json(ComparedOut().dump(told | {"side_by_side": found.to_dict()}))
        return
    _show_state(told)
    _show_beside(found)


@app.command()
def promote(
    number: Number = None,
    benchmark: Annotated[str, typer.Option(help="The open one of this benchmark.")] = "",
    leave_out: Annotated[
        list[str] | None, typer.Option(help="A submission that keeps its scores, in a column apart; repeatable.")
    ] = None,
) -> None:
    """Show the new scores of all entries at once; refused while one lacks them."""
    from server import rescores
    from server.cli.console import stdout
    from server.cli.wiring import services

    wired = services()
    row = _row(wired, number, benchmark)
    done = rescores.promote(wired, row.id if row else 0, leave_out or [])
    stdout().print(
        f"Rescore {done.id} is promoted: {done.benchmark_id} shows the new scores and is scored by {done.judge} from "
        "now on. The old ones stay in the history.",
        markup=False, soft_wrap=True,
    )  # fmt: skip


@app.command()
def drop(
    number: Number = None, benchmark: Annotated[str, typer.Option(help="The open one of this benchmark.")] = ""
) -> None:
    """Give an open rescore up; what is shown stays."""
    from server import rescores
    from server.cli.console import stdout
    from server.cli.wiring import services

    wired = services()
    row = _row(wired, number, benchmark)
    done = rescores.drop(wired, row.id if row else 0)
    stdout().print(
        f"Rescore {done.id} is dropped; {done.benchmark_id} stays as it was. What was judged is kept.",
        markup=False,
        soft_wrap=True,
    )


def _row(wired: Services, number: int | None, benchmark: str, *, needed: bool = True) -> Rescore | None:
    """The rescore that is meant. Raises `NotFound`, and `InvalidInput` where several are open."""
    from core.errors import InvalidInput, NotFound
    from server.rescore_reading import found as one
    from server.rescore_reading import open_ones

    with wired.database.reading() as session:
        if number is not None:
            return one(session, number)
        found = open_ones(session, benchmark)
    if len(found) > 1:
        raise InvalidInput("Several are open.", f"Name one: {', '.join(str(row.id) for row in found)}.")
    if not found and needed:
        raise NotFound("No rescore is open.", "Start one: aqa rescore --benchmark ID")
    return found[0] if found else None


def _show_plan(found: Any) -> None:
    from server.cli.console import stdout

    due = found.entries - found.same - found.released
    console = stdout()
    console.print(f"Benchmark   {found.benchmark}", markup=False)
    console.print(f"Judge       {found.judge}", markup=False)
    console.print(f"Recipe      {found.recipe}", markup=False, soft_wrap=True)
    for recipe in found.before:
        console.print(f"Shown now   {recipe}", markup=False, soft_wrap=True)
    console.print(f"Entries     {found.entries:,}: {due:,} to be scored, {found.same:,} stand under the recipe already")
    if found.released:
        console.print(f"            {found.released:,} keep the paper's released judgments (--released-too: not so)")
    console.print(f"To judge    {found.pairs:,} pairs that this judge has not judged yet")
    console.print("Nothing was queued.")


def _list(wired: Services, benchmark: str, as_json: bool) -> None:
    from server.api.rescore_schemas import RescoresOut
    from server.cli.console import print_json, stdout, table
    from server.lists import MOST
    from server.rescore_reading import documents, listed

    with wired.database.reading() as session:
        found = documents(session, listed(session, benchmark, limit=MOST))
    if as_json:
        print_json(RescoresOut().dump({"rescores": found})["rescores"])
        return
    shown = table("Rescores", "Number", "Benchmark", "Judge", "State", "Scored", "Started", right=("Number", "Scored"))
    for each in found:
        scored = f"{each['done']:,} of {each['entries']:,}"
        began = f"{each['created_at']:%Y-%m-%d %H:%M}"
        shown.add_row(str(each["id"]), each["benchmark"], each["judge"], each["state"], scored, began)
    stdout().print(shown if found else "Nothing was scored anew yet. Start with: aqa rescore --benchmark ID --dry-run")


def _show_state(told: dict[str, Any]) -> None:
    from server.cli.console import stdout

    console = stdout()
    console.print(
        f"Rescore {told['id']} of {told['benchmark']} by {told['judge']}: {told['state']}, {told['done']:,} of "
        f"{told['entries']:,} entries scored.", markup=False, soft_wrap=True,
    )  # fmt: skip
    for each in told["lacking"][:20]:
        console.print(
            f"  missing: {each['system']} v{each['version']} ({each['submission']}): {each['why']}",
            markup=False, soft_wrap=True,
        )  # fmt: skip
    if len(told["lacking"]) > 20:
        console.print(f"  and {len(told['lacking']) - 20:,} more")
    if told["ready"]:
        console.print("Everything is scored. Switch to it with: aqa rescore promote")


def _show_beside(found: SideBySide) -> None:
    """One line per system and metric that changes anywhere; the others in a sentence."""
    from server.cli.console import stdout, table

    console = stdout()
    if not found.lines:
        return console.print("Nothing is on the board.")
    if found.unchanged:
        console.print(f"Nothing changes for any system in {', '.join(found.unchanged.values())}.", markup=False)
    for key, title in found.differing.items():
        ranked = key == found.rank_by
        numbers = ("Old", "New", "Difference", "n", *(("Rank",) if ranked else ()))
        shown = table(f"{title}, %", "System", *numbers, right=numbers)
        for line in found.lines:
            change = line.metrics[key]
            told = [
                _with_ends(change.before, change.interval_before), _with_ends(change.after, change.interval_after),
                _with_ends(change.difference, change.interval_difference, "+"), _counts(change),
            ]  # fmt: skip
            shown.add_row(f"{line.system} v{line.version}", *told, *([_ranks(line)] if ranked else []))
        console.print(shown)
    if found.differing:
        below = "Below each number stands its 95 % interval; that of the difference is paired by question."
        console.print(below, soft_wrap=True)
    _show_reasons(found)
    if found.rank_by in found.differing:
        console.print("A rank is the interval of places that a system may hold; ▲ ▼: clear of its old places.")


def _ranks(line: Line) -> str:
    moved = {"up": " ▲", "down": " ▼"}.get(line.moved, "")
    return f"{_rank(line.rank_before)} → {_rank(line.rank_after)}{moved}"


def _rank(found: Any) -> str:
    if found is None:
        return "none"
    return str(found.best) if found.best == found.worst else f"{found.best}–{found.worst}"


def _show_reasons(found: SideBySide) -> None:
    """Why numbers or intervals are missing: each reason once, with how many it is true of."""
    from server.cli.console import stdout

    reasons = Counter(reason for line in found.lines for key in found.differing if (reason := line.metrics[key].reason))
    for reason, count in reasons.items():
        stdout().print(f"Missing in {counted(count, 'place')}: {reason}", markup=False, soft_wrap=True)


def _with_ends(value: float | None, ends: tuple[float, float] | None, sign: str = "") -> str:
    if value is None:
        return "n/a"
    between = (" to " if sign else "–").join(_percent(end, sign) for end in ends) if ends else "no interval"
    return f"{_percent(value, sign)}\n{between}"


def _percent(value: float, sign: str) -> str:
    shown = f"{100 * value:{sign}.1f}"
    return shown if float(shown) else "0.0"


def _counts(change: Change) -> str:
    """The questions behind the numbers: one figure where both sides have as many."""
    if change.n_after is None or change.n_after == change.n_before:
        return f"{change.n_before:,}"
    return f"{change.n_before:,} → {change.n_after:,}"
