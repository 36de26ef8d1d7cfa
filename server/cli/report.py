"""A file's report and its scores as a terminal shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.markup import escape
from rich.text import Text

from server.cli.console import stderr, table

if TYPE_CHECKING:
    from core.records import Report, Score
    from scorer.outputs import Outputs
    from submissions.formats import Accepted

_METHODS = {"bca": "BCa", "percentile": "percentile", "wilson": "Wilson", "none": "–"}
_PLACES = 10


def accepted_report(accepted: Accepted) -> Accepted:
    """The same if the file was accepted; else its report goes to standard error and `Refused` is raised."""
    from submissions.report import refusal, report_to_text

    if accepted.report.accepted:
        return accepted
    stderr().print(report_to_text(accepted.report), markup=False, soft_wrap=True)
    error = refusal(accepted.report)
    error.places = ()  # they stand in the report above
    raise error


def print_report(report: Report, console: Console) -> None:
    """The counts that are not zero, the notes and the first places."""
    counts = ", ".join(f"{n:,} {kind.replace('_', ' ')}" for kind, n in report.counts.items() if n)
    console.print(f"[bold]Report[/]  {counts}")
    for note in report.notes:
        console.print(f"  [dim]note[/] {escape(note)}")
    for place in report.places[:_PLACES]:
        where = f"row {place.row:,}" if place.row is not None else "file"
        console.print(f"  [yellow]{where}[/] {escape(place.message)}")
    if len(report.places) > _PLACES:
        console.print(f"  [dim]… and {len(report.places) - _PLACES:,} more; all are in scores.json[/]")


def print_scores(outputs: Outputs, score_name: str, report: Report, console: Console) -> None:
    """The report and the table of scores, with the judge named and synthetic ratings said."""
    from scorer.outputs import judge_name

    print_report(report, console)
    synthetic = outputs.synthetic
    console.print()
    console.print(scores_table(outputs.scores, f"Scores on {outputs.benchmark.name}", score_name, synthetic))
    console.print(f"[dim]Judge[/]  {escape(judge_name(outputs.judge))}, shown as “{escape(score_name)}”")
    if synthetic:
        console.print("[yellow]The human ratings of this benchmark are synthetic: no person rated anything.[/]")


def scores_table(scores: Mapping[str, Score], title: str, score_name: str, synthetic: bool) -> Any:
    """Metric, value, 95 % interval, standard error, n and method; rates as 0–100 with one decimal."""
    from scorer import metrics

    columns = ("Metric", "Value", "95 % interval", "SE", "n", "Method")
    shown = table(title, *columns, right=("Value", "95 % interval", "SE", "n"))
    remarks: list[str] = []
    for key, score in scores.items():
        name = score_name if key == "autoais" else metrics.load(key).title
        if key == "ais" and synthetic:
            name += " (synthetic ratings)"
        shown.add_row(escape(name), *_numbers(score))
        if score.reason is not None:
            remarks.append(f"{name}: {score.reason}")
        elif key == "ais":
            remarks += _coverage(score)
    return Group(shown, *(Text(remark, style="dim") for remark in remarks))


def _numbers(score: Score) -> tuple[str, str, str, str, str]:
    if score.value is None:
        return "n/a", "", "", f"{score.n:,}", "–"
    low, high, se = score.interval.low, score.interval.high, score.interval.se
    between = "–" if low is None or high is None else f"{100 * low:.1f} – {100 * high:.1f}"
    error = "–" if se is None else f"{100 * se:.1f}"
    method = _METHODS.get(score.interval.method, score.interval.method)
    return f"{100 * score.value:.1f}", between, error, f"{score.n:,}", method


def _coverage(score: Score) -> list[str]:
    coverage, bounds = score.details.get("coverage"), score.details.get("bounds")
    if coverage is None or coverage >= 1 or not bounds:
        return []
    due, rated = score.details["due"], score.details["rated"]
    return [
        f"AIS rests on {rated:,} of {due:,} questions to be rated ({coverage:.0%}); "
        f"with the rest all negative or all positive it would be {100 * bounds[0]:.1f} to {100 * bounds[1]:.1f}."
    ]
