"""One passage of an editing benchmark: what each system made of it, on which evidence, by which steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.benchmark import Benchmark
from core.database import Database
from core.editing import Revision, Snippet
from core.errors import NotFound
from core.records import Judgment, Question
from core.tables import RevisionRow
from leaderboard.editing_steps import Step, steps_of
from leaderboard.records import Board, Entry, Row
from leaderboard.word_diff import Piece, word_diff
from scorer.editing.attribution import attributed
from scorer.editing.items import EditItem, Prepared, Version, items_of, prepare
from scorer.editing.preservation import lev
from scorer.editing.sentences import FORMS, PLAIN
from scorer.judgments import lookup
from scorer.statistics.harmonic import harmonic
from scorer.stored import revision_of
from submissions.editing.labels import EditLabels, RevisionLabel, Verdict, edit_labels_of, key_of

_BATCH = 500


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence, the best p that a snippet gives it with that snippet, and what raters said of it."""

    text: str
    p: float | None
    snippet: Snippet | None
    number: int | None
    """The snippet's place in the report, from 1."""
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class Numbers:
    """The passage's share in the board's metrics; None where nothing is known."""

    attr_auto: float | None
    attr_auto_before: float | None
    pres_lev: float | None
    f1_ap_auto: float | None
    intent: Verdict | None


@dataclass(frozen=True, slots=True)
class Edited:
    """What one system made of the passage; `pieces` is empty where it gave no revision."""

    entry: Entry
    revision: Revision | None
    pieces: tuple[Piece, ...] = ()
    after: tuple[Told, ...] = ()
    before: tuple[Told, ...] = ()
    numbers: Numbers = Numbers(None, None, None, None, None)
    changed: bool = False
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Labels of its sentences, before and after, that do not count, by the other splitter that numbered them."""
    steps: tuple[Step, ...] = ()
    flags: Sequence[str] = field(default=())


@dataclass(frozen=True, slots=True)
class PassageView:
    """A passage with its context and every system's revision, in the board's order."""

    question: Question
    edited: tuple[Edited, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """A passage in the list, and how many systems changed it."""

    position: int
    text: str
    changed: int


KINDS = {
    "": "All passages",
    "changed": "Changed by a system",
    "unchanged": "Left as it was by every system",
    "context": "With a dialogue before it",
}


def listed(
    benchmark: Benchmark, changed: Mapping[int, int], *, kind: str = "", text: str = "", type_: str = ""
) -> list[Listed]:
    """The passages of a kind and type that hold some words, in the benchmark's order; `changed` as of `changes`."""
    wanted = text.strip().casefold()
    found = []
    for question in benchmark.questions:
        count = changed.get(question.position, 0)
        fits = {
            "": True, "changed": count > 0, "unchanged": count == 0, "context": bool(question.context),
        }[kind]  # fmt: skip
        held = wanted in " ".join([*question.context, question.text]).casefold()
        if fits and held and type_ in ("", question.type):
            found.append(Listed(question.position, question.text, count))
    return found


def passage(
    database: Database, board: Board, benchmark: Benchmark, position: int, traces: Mapping[str, Mapping[str, Any]]
) -> PassageView:
    """A passage as each system on the board has it; `traces` by submission. Raises `NotFound`."""
    if not 0 <= position < len(benchmark.questions):
        raise NotFound(
            f"{board.title} has no passage {position}.", f"Passages are 0 to {len(benchmark.questions) - 1}."
        )
    question = benchmark.questions[position]
    with database.reading() as session:
        revisions = _revisions(session, [row.entry.submission for row in board.rows], position)
        keys = [key_of(position, text, r.report) for r in revisions.values() for text in (r.text, question.text)]
        labels = edit_labels_of(session, benchmark.id, keys)
    prepared = {
        row.entry.submission: prepare(benchmark.questions, [revisions[row.entry.submission]], _form(row))
        for row in board.rows
        if row.entry.submission in revisions
    }
    judged = _judged(database, board, prepared)
    edited = []
    for row in board.rows:
        name = row.entry.submission
        trace = traces.get(name, {})
        if name in revisions:
            about = _About(question, labels, judged[row.entry.judge], trace)
            edited.append(_edited(row.entry, revisions[name], prepared[name], about))
        else:
            edited.append(Edited(row.entry, None, steps=steps_of(trace), flags=trace.get("flags", ())))
    return PassageView(question, tuple(edited))


def changes(session: Session, board: Board, benchmark: Benchmark) -> dict[int, int]:
    """Per passage, how many systems of the board changed it; reads every revision, so keep it by the evaluations."""
    counts: dict[int, int] = {}
    submissions = [row.entry.submission for row in board.rows]
    for start in range(0, len(submissions), _BATCH):
        query = select(RevisionRow.position, RevisionRow.text).where(
            RevisionRow.submission_id.in_(submissions[start : start + _BATCH])
        )
        for position, text in session.execute(query):
            if text.strip() != benchmark.questions[position].text.strip():
                counts[position] = counts.get(position, 0) + 1
    return counts


@dataclass(frozen=True, slots=True)
class _About:
    """What was read at once for all systems, and one's own trace."""

    question: Question
    labels: Mapping[bytes, RevisionLabel]
    judgments: Mapping[bytes, Judgment]
    trace: Mapping[str, Any]


def _judged(database: Database, board: Board, prepared: Mapping[str, Prepared]) -> dict[str, dict[bytes, Judgment]]:
    """By judge, what it said of the pairs of all its systems."""
    pairs: dict[str, list[bytes]] = {}
    for row in board.rows:
        if row.entry.submission in prepared:
            pairs.setdefault(row.entry.judge, []).extend(prepared[row.entry.submission].pairs)
    return {judge: lookup(database, judge, keys) for judge, keys in pairs.items()}


def _edited(entry: Entry, revision: Revision, prepared: Prepared, about: _About) -> Edited:
    question, at = about.question, revision.position
    after, before = (
        about.labels.get(key_of(at, text, revision.report)) for text in (revision.text, question.text)
    )  # fmt: skip
    labels = EditLabels({at: after} if after else {}, {at: before} if before else {})
    (item,) = items_of([question], [revision], prepared, about.judgments, labels)
    judged = not prepared.pairs or not prepared.pairs.keys().isdisjoint(about.judgments)
    return Edited(
        entry, revision, word_diff(question.text, revision.text), _told(item, item.after), _told(item, item.before),
        _numbers(item, judged), revision.text.strip() != question.text.strip(), _left_out(after, before),
        steps_of(about.trace), about.trace.get("flags", ()),
    )  # fmt: skip


def _left_out(after: RevisionLabel | None, before: RevisionLabel | None) -> Mapping[str, int]:
    """Of the one text where the revision is the original: that has one key, and so one label."""
    labels = [after] if after is before else [after, before]
    return sum((Counter(label.left_out) for label in labels if label), Counter())


def _told(item: EditItem, version: Version) -> tuple[Told, ...]:
    report = item.revision.report if item.revision else ()
    verdicts = version.label.sentences if version.label else {}
    return tuple(
        Told(
            each.text, None if each.snippet is None else each.p, None if each.snippet is None else report[each.snippet],
            None if each.snippet is None else each.snippet + 1, verdicts.get(number),
        )
        for number, each in enumerate(version.sentences, start=1)
    )  # fmt: skip


def _numbers(item: EditItem, judged: bool) -> Numbers:
    kept = lev(item)
    after = attributed(item, item.after) if judged else None
    return Numbers(
        after, attributed(item, item.before) if judged else None, kept,
        None if after is None else harmonic(after, kept), item.after.label.intent if item.after.label else None,
    )  # fmt: skip


def _form(row: Row) -> str:
    """The sentence form that the row's numbers were made with, from their signature."""
    parts = {part for cell in row.metrics.values() for part in cell.signature.split("|")}
    return next((form for form in FORMS if f"sent:{form}" in parts), PLAIN)


def _revisions(session: Session, submissions: Sequence[str], position: int) -> dict[str, Revision]:
    found: dict[str, Revision] = {}
    for start in range(0, len(submissions), _BATCH):
        query = select(RevisionRow).where(
            RevisionRow.submission_id.in_(submissions[start : start + _BATCH]), RevisionRow.position == position
        )
        found |= {row.submission_id: revision_of(row) for row in session.scalars(query)}
    return found
