"""Single questions: what every system answered, from which passage, and what judge and raters said of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlalchemy import select
from sqlalchemy.orm import Session

from core.corpus import Corpus
from core.errors import NotFound
from core.records import Label, Passage
from core.tables import PredictionRow, QuestionRow
from core.text import triple_key
from leaderboard.marking import Segment, mark
from leaderboard.records import Board, Entry
from scorer.scoring import Values
from submissions.labels import labels_of

METRICS = ("em", "autoais", "autoais_p", "ais")
Table = npt.NDArray[np.float64]
"""Values by question and system, in the board's order; NaN where there is none."""
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Filter:
    """A kind of question worth reading, by the scores that at least one of the chosen systems has on it."""

    title: str
    test: Callable[[Mapping[str, Table]], npt.NDArray[np.bool_]]


FILTERS: dict[str, Filter] = {
    "": Filter("All questions", lambda t: np.ones_like(t["em"], dtype=bool)),
    "em-misses": Filter("EM wrong, humans say attributable", lambda t: (t["em"] == 0) & (t["ais"] == 1)),
    "em-flatters": Filter("EM right, humans say not attributable", lambda t: (t["em"] == 1) & (t["ais"] == 0)),
    "judge-flatters": Filter("Judge yes, humans no", lambda t: (t["autoais"] == 1) & (t["ais"] == 0)),
    "judge-misses": Filter("Judge no, humans yes", lambda t: (t["autoais"] == 0) & (t["ais"] == 1)),
    "near": Filter("Judge undecided (p near 0.5)", lambda t: np.abs(t["autoais_p"] - 0.5) <= 0.05),
}


@dataclass(frozen=True, slots=True)
class Found:
    """A question that a filter found, and how many of the chosen systems it holds for."""

    position: int
    text: str
    systems: int


@dataclass(frozen=True, slots=True)
class Given:
    """One answer with its attribution, and the systems that gave it; numbers are None where there is none."""

    answer: str | None
    attribution: str
    passage: Passage | None
    text: tuple[Segment, ...]
    systems: tuple[Entry, ...]
    em: float | None
    autoais: float | None
    p: float | None
    ais: float | None
    label: Label | None


@dataclass(frozen=True, slots=True)
class Example:
    """A question with everything that was answered to it, the commonest first."""

    position: int
    id: str
    text: str
    references: tuple[str, ...]
    rated: bool
    given: tuple[Given, ...]


def find(
    session: Session,
    board: Board,
    tables: Mapping[str, Table],
    *,
    kind: str = "",
    system_id: int | None = None,
    text: str = "",
    start: int = 0,
    count: int = 20,
) -> tuple[tuple[Found, ...], int]:
    """A page of the questions that a filter finds, and how many there are."""
    chosen = [at for at, row in enumerate(board.rows) if system_id is None or row.entry.system_id == system_id]
    mine = QuestionRow.benchmark_id == board.benchmark
    there = np.arange(board.questions)
    if text.strip():
        words = QuestionRow.text.icontains(text.strip(), autoescape=True)
        query = select(QuestionRow.position).where(mine, words).order_by(QuestionRow.position)
        there = np.array(session.scalars(query).all(), dtype=int)
    holds = np.zeros(board.questions, dtype=int)
    if chosen:
        holds = FILTERS[kind].test({key: table[:, chosen] for key, table in tables.items()}).sum(axis=1)
    kept = there[holds[there] > 0] if kind else there
    page = kept[start : start + count].tolist()
    # Only what is shown is read: a benchmark has thousands of questions, a page has fifteen.
    shown = select(QuestionRow.position, QuestionRow.text).where(mine, QuestionRow.position.in_(page))
    texts = dict(session.execute(shown).all())
    return tuple(Found(position, texts[position], int(holds[position])) for position in page), len(kept)


def example(
    session: Session, board: Board, corpus: Corpus | None, tables: Mapping[str, Table], position: int
) -> Example:
    """One question of the benchmark. Raises `NotFound`."""
    question = session.get(QuestionRow, (board.benchmark, position))
    if question is None:
        raise NotFound(f"{board.title} has no question {position}.", f"Questions are 0 to {board.questions - 1}.")
    entries = [row.entry for row in board.rows]
    predictions = _predictions(session, [entry.submission for entry in entries], position)
    triples = {
        key: triple_key(position, p.answer, p.passage_id) for key, p in predictions.items() if p.passage_id is not None
    }
    labels = labels_of(session, board.benchmark, set(triples.values())) if triples else {}
    wanted = {p.passage_id for p in predictions.values() if p.passage_id is not None}
    passages = corpus.passages(wanted) if corpus is not None else {}
    groups: dict[tuple[str | None, str], list[int]] = {}
    for at, entry in enumerate(entries):
        p = predictions.get(entry.submission)
        groups.setdefault((p.answer, p.attribution) if p else (None, ""), []).append(at)
    given = []
    for (answer, attribution), members in sorted(groups.items(), key=_commonest_first):
        first = entries[members[0]].submission
        passage = passages.get(predictions[first].passage_id or "") if first in predictions else None
        em, autoais, chance, ais = (_number(tables[key], position, members) for key in METRICS)
        label = labels.get(triples[first]) if first in triples else None
        text = mark(passage.text, answer) if passage else ()
        systems = tuple(entries[at] for at in members)
        given.append(Given(answer, attribution, passage, text, systems, em, autoais, chance, ais, label))
    return Example(position, question.id, question.text, tuple(question.references), question.rated, tuple(given))


def _commonest_first(group: tuple[tuple[str | None, str], list[int]]) -> tuple[bool, int]:
    (answer, _), members = group
    return answer is None, -len(members)


def table_of(values: Mapping[int, Values], evaluation_ids: Sequence[int], questions: int) -> Table:
    """Values by question and evaluation; NaN for an evaluation without them."""
    nothing = np.full(questions, np.nan)
    columns = [values.get(each, nothing) for each in evaluation_ids]
    return np.column_stack(columns) if columns else np.empty((questions, 0))


def _predictions(session: Session, submissions: Sequence[str], position: int) -> dict[str, PredictionRow]:
    found: dict[str, PredictionRow] = {}
    for start in range(0, len(submissions), _BATCH):
        query = select(PredictionRow).where(
            PredictionRow.submission_id.in_(submissions[start : start + _BATCH]), PredictionRow.position == position
        )
        found |= {row.submission_id: row for row in session.scalars(query)}
    return found


def _number(table: Table, position: int, members: Sequence[int]) -> float | None:
    """The value that the systems of one triple share; systems scored without it are passed over."""
    known = [float(table[position, at]) for at in members if np.isfinite(table[position, at])]
    return known[0] if known else None
