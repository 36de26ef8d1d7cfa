"""A benchmark's leaderboard from the database; the API's JSON and the page both come from `rows`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy.orm import Session

from core.architectures import ARCHITECTURES
from core.errors import InvalidInput, NotFound
from core.ports import Metric
from core.tables import BenchmarkRow, ScoreRow
from core.tracks import WORDS
from leaderboard.entries import read_entries, read_score_rows
from leaderboard.ranking import ranks
from leaderboard.recipes import columns_of, difference, judge_of, recipe_of
from leaderboard.records import Board, Cell, Column, Entry, Group, Row
from leaderboard.summary import summarise
from scorer import metrics
from scorer.statistics.ranks import Rank
from submissions.labels import synthetic_ratings

_NOT_MEASURED = "This version was scored before the metric was added."
_STRUCK = "The system uses an AutoAIS model inside, so AutoAIS flatters it; it is judged by AIS (AQA §4.3)."

Scores = Mapping[int, Mapping[str, ScoreRow]]


def rows(session: Session, benchmark_id: str, *, include: Collection[str] = (), rank_by: str | None = None) -> Board:
    """The board of a benchmark: per system its latest published, not withdrawn, evaluated version.

    `include` names submissions to show as if they were published. `rank_by` is a column's key; by default AIS,
    else AutoAIS. Raises `NotFound` for the benchmark and `InvalidInput` for the column.
    """
    return assemble(session, benchmark_id, read_entries(session, benchmark_id, include), rank_by)


def assemble(session: Session, benchmark_id: str, entries: Sequence[Entry], rank_by: str | None = None) -> Board:
    """The board of the given entries. Raises as `rows`."""
    benchmark = session.get(BenchmarkRow, benchmark_id)
    if benchmark is None:
        raise NotFound(f"There is no benchmark {benchmark_id!r}.", "See the list of benchmarks.")
    synthetic = benchmark.synthetic or synthetic_ratings(session, benchmark_id)
    scores = read_score_rows(session, [entry.evaluation_id for entry in entries])
    track = benchmark.track
    columns = [column for metric in metrics.load_all(track) for column in _columns(metric, scores, synthetic)]
    unordered = [Row(entry, {c.key: _cell(c, entry, scores, benchmark) for c in columns}) for entry in entries]
    chosen = _rank_column(columns, unordered, rank_by, metrics.RANKED_FIRST[track])
    ranked = _ranked(session, unordered, chosen)
    return Board(
        benchmark.id, benchmark.title, benchmark.description, f"{benchmark.id}@{benchmark.content_hash[:12]}",
        benchmark.question_count, benchmark.rated_count, benchmark.raters_per_item, benchmark.minimum_coverage,
        synthetic, tuple(columns), chosen.key if chosen else None, grouped(ranked, columns, chosen), track,
    )  # fmt: skip


def _columns(metric: Metric, scores: Scores, synthetic: bool) -> list[Column]:
    """The metric's main column, and one more for each recipe that differs from its."""
    signatures = {at: found[metric.key].signature for at, found in scores.items() if metric.key in found}
    recipes = columns_of({at: recipe_of(signature) for at, signature in signatures.items()})
    if not recipes:
        return [Column(metric.key, metric.key, metric.title, metric.help, "", synthetic=synthetic and _human(metric))]
    made = []
    for place, recipe in enumerate(recipes):
        judge = judge_of(recipe)
        key = metric.key if place == 0 else f"{metric.key}@{place + 1}"
        # One judged column may bear the judge's own name; where there are several, each keeps the metric's.
        title = judge.score_name if judge and metric.key == "autoais" else metric.title
        apart = difference(recipe, recipes[0]) if place else None
        made.append(Column(key, metric.key, title, metric.help, recipe, judge, synthetic and _human(metric), apart))
    return made


def _human(metric: Metric) -> bool:
    return "labels" in metric.rests_on


def _cell(column: Column, entry: Entry, scores: Scores, benchmark: BenchmarkRow) -> Cell:
    row = scores[entry.evaluation_id].get(column.metric)
    if row is None:
        return Cell(None, reason=_NOT_MEASURED, unranked=_NOT_MEASURED)
    if recipe_of(row.signature) != column.recipe:
        reason = "Scored under another recipe: the number stands in a column of its own."
        return Cell(None, reason=reason, unranked=reason)
    struck = _STRUCK if column.judge and entry.uses_autoais else None
    return Cell(
        row.value, row.n, row.low, row.high, row.se, row.method, row.signature, row.reason, struck,
        _why_unranked(row, entry, struck, benchmark), row.details,
    )  # fmt: skip


def _why_unranked(row: ScoreRow, entry: Entry, struck: str | None, benchmark: BenchmarkRow) -> str | None:
    words, least = WORDS[benchmark.track], benchmark.minimum_coverage
    rated = row.details.get("coverage")
    if row.value is None:
        return row.reason or "The number is undefined."
    if struck:
        return struck
    if entry.coverage < least:
        done = f"{words.does.capitalize()} {entry.coverage:.1%} of the {words.items}"
        return f"{done}; the benchmark ranks from {least:.0%} on."
    if rated is not None and rated < 1:
        due = f"{rated:.1%} of the {words.item}s to be rated have a rating"
        return f"{due}; human scores are ranked at full coverage only."
    return None


def _rank_column(
    columns: Sequence[Column], found: Sequence[Row], rank_by: str | None, first: Sequence[str]
) -> Column | None:
    by_key = {column.key: column for column in columns}
    if rank_by is not None:
        if rank_by not in by_key:
            raise InvalidInput(f"There is no column {rank_by!r}.", f"Columns: {', '.join(by_key)}.")
        return by_key[rank_by]
    order = [by_key[key] for key in first if key in by_key] + list(columns)
    counts = [(sum(row.metrics[column.key].unranked is None for row in found), column) for column in order]
    # A rank among one system says nothing: prefer a column where there is something to rank.
    for least in (2, 1):
        for count, column in counts:
            if count >= least:
                return column
    return None


def _ranked(session: Session, found: Sequence[Row], column: Column | None) -> list[Row]:
    if column is None:
        return list(found)
    eligible = [row for row in found if row.metrics[column.key].unranked is None]
    places: dict[int, Rank | None] = dict(
        zip(
            [row.entry.system_id for row in eligible],
            ranks(session, [row.entry.evaluation_id for row in eligible], column.metric),
            strict=True,
        )
    )
    return [
        Row(row.entry, row.metrics, places.get(row.entry.system_id), row.metrics[column.key].unranked) for row in found
    ]


def grouped(found: Sequence[Row], columns: Sequence[Column], chosen: Column | None) -> tuple[Group, ...]:
    """By architecture in the order of the paper; best value first within each, what has none last."""

    def order(row: Row) -> tuple[float, str]:
        value = row.metrics[chosen.key].value if chosen else None
        return (1.0 if value is None else -value, row.entry.system.casefold())

    groups = []
    for key, title in ARCHITECTURES.items():
        members = tuple(sorted((row for row in found if row.entry.architecture == key), key=order))
        if members:
            groups.append(Group(key, title, members, summarise(members, columns)))
    return tuple(groups)
