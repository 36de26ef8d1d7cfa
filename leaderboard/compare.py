"""Two systems on the same questions: paired differences, where each wins, and the questions where they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from core.records import Prediction
from core.tables import QuestionRow
from leaderboard.ranking import read_many
from leaderboard.recipes import resampling
from leaderboard.records import Board, Column, Row
from scorer.scoring import Values
from scorer.statistics.comparisons import Comparison, compare
from scorer.statistics.resamples import ResampleStore
from scorer.stored import read_predictions

GRID = ("em", "autoais", "ais")
"""The metrics of the win/loss/tie grid."""
OTHER_RECIPE = "The two were scored under different recipes, so the numbers must not be compared."
Signs = tuple[int, ...]
"""Per metric of the grid: 1 where the first system is better, -1 where the second is, 0 where they tie."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first system less the second in one column, or the `reason` why there is no difference."""

    column: Column
    first: float | None
    second: float | None
    found: Comparison | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """What one system did on one question; None where there is nothing to say."""

    answer: str | None
    passage_id: str | None
    em: float | None
    autoais: float | None
    p: float | None
    ais: float | None


@dataclass(frozen=True, slots=True)
class Contrast:
    """One question on which the two systems' scores differ."""

    position: int
    question: str
    first: Side
    second: Side
    signs: Signs


@dataclass(frozen=True, slots=True)
class Duel:
    """Two systems side by side; `grid` counts the questions on which all metrics of the grid are known."""

    first: Row
    second: Row
    differences: tuple[Difference, ...]
    grid: Mapping[Signs, int]
    grid_n: int
    signs: tuple[Signs | None, ...]
    """Per question of the benchmark; None where a metric of the grid is unknown."""


def duel(session: Session, board: Board, first: Row, second: Row, store: ResampleStore) -> Duel:
    """Compare two rows of a board, the first less the second."""
    ids = [first.entry.evaluation_id, second.entry.evaluation_id]
    wanted = dict.fromkeys([column.metric for column in board.columns] + list(GRID))
    values = {metric: read_many(session, ids, metric) for metric in wanted}
    differences = tuple(
        _difference(column, first, second, values[column.metric], store)
        for column in board.columns
        if first.metrics[column.key].value is not None or second.metrics[column.key].value is not None
    )
    signs = _signs([values[metric] for metric in GRID], ids)
    counts = Counter(each for each in signs if each is not None)
    return Duel(first, second, differences, counts, sum(counts.values()), tuple(signs))


def contrasts(
    session: Session, benchmark_id: str, found: Duel, *, chosen: Signs | None = None, start: int = 0, count: int = 20
) -> tuple[tuple[Contrast, ...], int]:
    """A page of the questions where the two differ (or of one cell of the grid), and how many there are."""
    ids = [found.first.entry.evaluation_id, found.second.entry.evaluation_id]
    values = {key: read_many(session, ids, key) for key in (*GRID, "autoais_p")}
    differing = [
        at
        for at in range(len(found.signs))
        if (found.signs[at] == chosen if chosen is not None else _differs(values, ids, at))
    ]
    page = differing[start : start + count]
    texts = _questions(session, benchmark_id, page)
    sides = [
        {p.position: p for p in read_predictions(session, row.entry.submission)} for row in (found.first, found.second)
    ]
    rows = []
    for at in page:
        first, second = (_side(sides[s].get(at), values, ids[s], at) for s in (0, 1))
        signs = tuple(_sign(values[key], ids, at) for key in GRID)
        rows.append(Contrast(at, texts[at], first, second, signs))
    return tuple(rows), len(differing)


def _difference(
    column: Column, first: Row, second: Row, values: Mapping[int, Values], store: ResampleStore
) -> Difference:
    one, two = first.metrics[column.key], second.metrics[column.key]
    if one.value is None or two.value is None:
        other = OTHER_RECIPE if column.apart or one.signature != two.signature else ""
        return Difference(column, one.value, two.value, None, one.reason or two.reason or other)
    left, right = values[first.entry.evaluation_id], values[second.entry.evaluation_id]
    common = np.isfinite(left) & np.isfinite(right)
    count, seed = resampling(column.recipe)
    found = compare(left[common], right[common], store.get(int(common.sum()), count, seed))
    return Difference(column, one.value, two.value, found, None if found.difference is not None else found.reason)


def _signs(values: Sequence[Mapping[int, Values]], ids: Sequence[int]) -> list[Signs | None]:
    if any(at not in each for each in values for at in ids):
        return []
    gaps = np.array([each[ids[0]] - each[ids[1]] for each in values])
    known = np.isfinite(gaps).all(axis=0)
    signs = np.sign(np.nan_to_num(gaps)).astype(int)
    return [tuple(signs[:, at].tolist()) if known[at] else None for at in range(gaps.shape[1])]


def _differs(values: Mapping[str, Mapping[int, Values]], ids: Sequence[int], at: int) -> bool:
    return any(_sign(values[key], ids, at) != 0 for key in GRID)


def _sign(values: Mapping[int, Values], ids: Sequence[int], at: int) -> int:
    """0 where either value is unknown: nothing can be said of who is better."""
    gap = float(values[ids[0]][at] - values[ids[1]][at])
    return 0 if not np.isfinite(gap) else int(np.sign(gap))


def _side(
    prediction: Prediction | None, values: Mapping[str, Mapping[int, Values]], evaluation_id: int, at: int
) -> Side:
    def number(key: str) -> float | None:
        value = float(values[key][evaluation_id][at])
        return value if np.isfinite(value) else None

    answer, passage = (prediction.answer, prediction.passage_id) if prediction else (None, None)
    return Side(answer, passage, number("em"), number("autoais"), number("autoais_p"), number("ais"))


def _questions(session: Session, benchmark_id: str, positions: Sequence[int]) -> dict[int, str]:
    query = select(QuestionRow.position, QuestionRow.text).where(
        QuestionRow.benchmark_id == benchmark_id, QuestionRow.position.in_(positions)
    )
    return {row.position: row.text for row in session.execute(query)}
