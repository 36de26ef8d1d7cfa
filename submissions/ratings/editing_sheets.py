"""Sheets of revisions for raters to fill in: one row per sentence, and one for the intent of each revision."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.benchmark import Benchmark
from core.editing import Snippet
from core.errors import InvalidInput, NotFound
from core.sentences import split, splitter
from core.tables import RevisionRow, Submission
from core.tabular import write_table
from submissions.editing.labels import INTENT, RevisionLabel, edit_labels_of, key_of
from submissions.ratings.editing_columns import SPLITTER
from submissions.ratings.sheets import published

COLUMNS = {
    "id": "text", "key": "text", "context": "text", "original": "text", "revised": "text", "evidence": "text",
    "sentence": "integer", "sentence_text": "text", "rater": "text", "supported": "text", "intent": "text",
    "note": "text", SPLITTER: "text",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ToRate:
    """A text beside its report, and what of it nobody has rated yet: sentences from 1, 0 for the intent."""

    position: int
    key: bytes
    text: str
    report: tuple[Snippet, ...]
    missing: tuple[int, ...]


def to_rate(
    session: Session, benchmark: Benchmark, submissions: Sequence[str] = (), *, before: bool = False
) -> list[ToRate]:
    """What is to be rated of the submissions (default: the latest published of each system), in order of passages.

    Only passages that humans rate, with what no counting label covers. With `before`, the original texts beside the
    same reports too; their intent is never asked for. Raises `NotFound` for a submission to another benchmark.
    """
    _check(session, benchmark.id, submissions)
    chosen = list(submissions) or published(session, benchmark.id)
    due = set(benchmark.rated_positions)
    rows = session.scalars(
        select(RevisionRow).where(RevisionRow.submission_id.in_(chosen)).order_by(RevisionRow.position)
    )
    found: dict[bytes, tuple[int, str, tuple[Snippet, ...], bool]] = {}
    for row in rows:
        if row.position in due and row.text.strip():
            report = tuple(Snippet(**snippet) for snippet in row.report)
            original = benchmark.questions[row.position].text
            changed = row.text.strip() != original.strip()
            found.setdefault(key_of(row.position, row.text, report), (row.position, row.text, report, changed))
            if before:
                found.setdefault(key_of(row.position, original, report), (row.position, original, report, False))
    labels = edit_labels_of(session, benchmark.id, found)
    listed = [
        ToRate(position, key, text, report, _missing(text, report, intent, labels.get(key)))
        for key, (position, text, report, intent) in found.items()
    ]
    return sorted((each for each in listed if each.missing), key=lambda each: (each.position, each.text))


def write_sheet(
    benchmark: Benchmark,
    chosen: Sequence[ToRate],
    kind: str,
    stream: BinaryIO,
    *,
    size: int | None = None,
    seed: int = 0,
) -> int:
    """Write a sheet of all texts, or of `size` drawn at random; returns how many there are in it.

    Raises `NotFound` where nothing is left to rate, `InvalidInput` for a kind of file that is not written.
    """
    if not chosen:
        raise NotFound(
            "There is no revision to rate.",
            "All that is on the board is rated, or nothing is published on this benchmark.",
        )
    if size is not None and size < 1:
        raise InvalidInput("The size of the sheet is not at least 1.", "Give the number of texts to draw.")
    drawn = chosen if size is None else random.Random(seed).sample(list(chosen), min(size, len(chosen)))
    write_table(kind, COLUMNS, _rows(benchmark, drawn), stream)
    return len(drawn)


def _rows(benchmark: Benchmark, drawn: Sequence[ToRate]) -> Iterator[tuple[Any, ...]]:
    for each in drawn:
        question = benchmark.questions[each.position]
        evidence = json.dumps([asdict(snippet) for snippet in each.report], ensure_ascii=False)
        sentences = split(each.text)
        for number in each.missing:
            shown = each.text if number == INTENT else sentences[number - 1]
            yield (
                question.id, each.key.hex(), "\n".join(question.context), question.text, each.text, evidence, number,
                shown, None, None, None, None, splitter(),
            )  # fmt: skip


def _missing(text: str, report: Sequence[Snippet], intent: bool, label: RevisionLabel | None) -> tuple[int, ...]:
    """A text without evidence needs no rater for its sentences, an unchanged one none for its intent."""
    known = label or RevisionLabel()
    evidence = any(snippet.text.strip() for snippet in report)
    numbers = range(1, len(split(text)) + 1) if evidence else ()
    asked = [number for number in numbers if number not in known.sentences]
    return tuple(asked + [INTENT] * (intent and known.intent is None))


def _check(session: Session, benchmark_id: str, submissions: Sequence[str]) -> None:
    query = select(Submission.id).where(Submission.benchmark_id == benchmark_id, Submission.id.in_(submissions))
    known = set(session.scalars(query))
    if strange := [each for each in submissions if each not in known]:
        raise NotFound(f"{benchmark_id} has no submission {strange[0][:40]!r}.", "Check the id and the benchmark.")
