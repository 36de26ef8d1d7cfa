"""A file's report, an entry and its scores as a terminal shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from core import states
from core.records import Interval, Score
from scorer.statistics.methods import method_name
from server.cli.console import stderr, table
from submissions.editing.labels import left_out_in_words
from submissions.labels import few_raters_in_words

if TYPE_CHECKING:
    from core.records import Place, Report
    from scorer.outputs import Outputs
    from submissions.tracks import Read

_ROWS = 5
_STATES = {states.QUEUED: "yellow", states.RUNNING: "cyan", states.SCORED: "green", states.FAILED: "red"}


def accepted_report(accepted: Read) -> Read:
    """The same if the file was accepted; else its report goes to standard error and `Refused` is raised."""
    from submissions.report import refusal, report_to_text

    if accepted.report.accepted:
        return accepted
    stderr().print(report_to_text(accepted.report, most_places=20), markup=False, soft_wrap=True)
    error = refusal(accepted.report)
    error.places = ()  # they stand in the report above
    raise error


def print_report(report: Report, console: Console) -> None:
    """Rows and matches, then each kind of remark with its count and the first rows it was found in."""
    rows, matched = report.counts.get("rows", 0), report.counts.get("matched", 0)
    console.print(f"[bold]Report[/]  {rows:,} rows, {matched:,} matched")
    for kind, n in report.counts.items():
        if n and kind not in ("rows", "matched"):
            places = [place for place in report.places if place.kind == kind]
            told = escape(places[0].message) if places else ""
            console.print(f"  [yellow]{n:,} {kind.replace('_', ' ')}[/]{_rows(places, n)}  [dim]{told}[/]")
    for note in report.notes:
        console.print(f"  {escape(note)}")


def _rows(places: Sequence[Place], n: int) -> str:
    numbers = [f"{place.row:,}" for place in places[:_ROWS] if place.row is not None]
    if not numbers:
        return ""
    more = ", …" if n > len(numbers) else ""
    return f" (row{'s' if n > 1 else ''} {', '.join(numbers)}{more})"


def print_scores(outputs: Outputs, score_name: str, report: Report, console: Console) -> None:
    """The report and the table of fresh scores, with the judge named and synthetic ratings said."""
    from scorer import metrics
    from scorer.outputs import judge_name

    titles = {key: score_name if key == "autoais" else metrics.load(key).title for key in outputs.scores}
    print_report(report, console)
    console.print()
    console.print(scores_table(f"Scores on {outputs.benchmark.name}", titles, outputs.scores, outputs.synthetic))
    _print_remarks(judge_name(outputs.judge), outputs.scores, score_name, outputs.synthetic, console)


def print_stored_scores(found: Mapping[str, Any], console: Console) -> None:
    """The table of a scores document (`scores.json`, the API's scores)."""
    from leaderboard.recipes import judge_of
    from scorer import metrics

    judge = judge_of(found["signature"])
    score_name = judge.score_name if judge else found["judge"]
    titles = {key: score_name if key == "autoais" else metrics.load(key).title for key in found["metrics"]}
    scores = {key: _score(key, block) for key, block in found["metrics"].items()}
    console.print()
    console.print(scores_table(f"Scores on {found['benchmark']}", titles, scores, found["synthetic_ratings"]))
    _print_remarks(found["judge"], scores, score_name, found["synthetic_ratings"], console)


def print_entry(entry: Mapping[str, Any], console: Console) -> None:
    """What a submission is and where it stands."""
    state = entry["state"]
    stage = f", {entry['stage']}" if state not in states.FINISHED else ""
    place = entry["queue_position"]
    waiting = "" if place is None else " (next)" if place == 0 else f" ({place:,} before it)"
    shown = Table(box=None, show_header=False, pad_edge=False)
    shown.add_column(style="dim", no_wrap=True)
    shown.add_column(overflow="fold")
    shown.add_row("Submission", f"[bold]{entry['id']}[/]")
    shown.add_row("System", f"{escape(entry['system'])}, version {entry['version']}, of {escape(entry['team'])}")
    shown.add_row("Benchmark", f"{escape(entry['benchmark'])}, {entry['coverage']:.1%} covered")
    shown.add_row("State", f"[{_STATES.get(state, 'bold')}]{state}[/]{escape(stage)}{waiting}")
    shown.add_row("On the board", "yes" if entry["published"] else "no: private until it is published")
    if entry["reason"]:
        shown.add_row("Reason", escape(entry["reason"]))
    console.print(shown)


def scores_table(title: str, titles: Mapping[str, str], scores: Mapping[str, Score], synthetic: bool) -> Group:
    """Metric, value, 95 % interval, standard error, n and method; rates as 0–100 with one decimal."""
    from scorer import metrics

    numbers = ("Value", "95 % interval", "SE", "n")
    shown = table(title, "Metric", *numbers, "Method", right=numbers)
    remarks: list[str] = []
    human = {key for key in scores if "labels" in metrics.load(key).rests_on}
    for key, score in scores.items():
        name = titles[key] + (" (synthetic ratings)" if synthetic and key in human else "")
        shown.add_row(name, *_numbers(score))
        remarks += _remarks(key, name, score)
    return Group(shown, *(Text(remark, style="dim") for remark in remarks))


def _print_remarks(judge: str, scores: Mapping[str, Score], score_name: str, synthetic: bool, console: Console) -> None:
    shown_as = f", shown as “{escape(score_name)}”" if "autoais" in scores else ""
    console.print(f"[dim]Judge[/]  {escape(judge)}{shown_as}")
    if synthetic:
        console.print("[yellow]Human ratings here are synthetic: simulated, not given by people.[/]")


def _score(key: str, block: Mapping[str, Any]) -> Score:
    interval = Interval(block["low"], block["high"], block["se"], block["method"])
    return Score(key, block["value"], block["n"], interval, block["signature"], block.get("reason"), block["details"])


def _numbers(score: Score) -> Sequence[str]:
    if score.value is None:
        return "n/a", "", "", f"{score.n:,}", "–"
    low, high, se = score.interval.low, score.interval.high, score.interval.se
    between = "–" if low is None or high is None else f"{100 * low:.1f} – {100 * high:.1f}"
    error = "–" if se is None else f"{100 * se:.1f}"
    method = method_name(score.interval.method)
    return f"{100 * score.value:.1f}", between, error, f"{score.n:,}", method


def _remarks(key: str, name: str, score: Score) -> list[str]:
    if score.reason is not None:
        return [f"{name}: {score.reason}"]
    of_labels = [*left_out_in_words(score.details.get("left_out", {})), *few_raters_in_words(score.details)]
    left_out = [f"{name}: {told}" for told in of_labels]
    coverage, bounds = score.details.get("coverage"), score.details.get("bounds")
    if coverage is None or coverage >= 1 or not bounds:
        return left_out
    due, rated = score.details["due"], score.details["rated"]
    return [
        *left_out,
        f"{name} rests on {rated:,} of {due:,} to be rated ({coverage:.0%}); "
        f"with the rest all negative or all positive it would be {100 * bounds[0]:.1f} to {100 * bounds[1]:.1f}.",
    ]
