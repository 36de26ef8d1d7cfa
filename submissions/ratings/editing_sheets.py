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
from core.errors import Conflict, InvalidInput, NotFound
from core.sentences import places, split, splitter
from core.tables import RevisionRow, SheetRevision
from core.tabular import write_table
from submissions.editing.labels import INTENT, RevisionLabel, edit_labels_of, key_of
from submissions.ratings.chosen import chosen
from submissions.ratings.editing_columns import SPLITTER

METHODS = ("all", "random")
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
    due = set(benchmark.rated_positions)
    entries = chosen(session, benchmark.id, submissions)
    rows = session.scalars(
        select(RevisionRow).where(RevisionRow.submission_id.in_(entries)).order_by(RevisionRow.position)
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
    found: Sequence[ToRate],
    kind: str,
    stream: BinaryIO,
    *,
    size: int | None = None,
    seed: int = 0,
) -> int:
    """Write a sheet of all texts, or of `size` drawn at random; returns how many there are in it.

    Raises `NotFound` where nothing is left to rate, `InvalidInput` for a kind of file that is not written.
    """
    _check(found, size)
    drawn = found if size is None else random.Random(seed).sample(list(found), min(size, len(found)))
    write_table(kind, COLUMNS, _rows(benchmark, drawn), stream)
    return len(drawn)


def draw_revisions(found: Sequence[ToRate], method: str, size: int | None, seed: int) -> list[dict[str, Any]]:
    """Rows of a sheet to be kept: all texts, or `size` drawn at random, in random order; the same for the same seed.

    Raises as `write_sheet`, and `InvalidInput` for a way to draw that revisions do not have.
    """
    if method not in METHODS:
        raise InvalidInput(f"Revisions are not drawn by the method {method!r}.", f"Methods: {', '.join(METHODS)}.")
    if method == "random" and size is None:
        raise InvalidInput("The size of the sheet is missing.", "Give the number of texts to draw, at least 1.")
    _check(found, size)
    most = len(found) if method == "all" or size is None else min(size, len(found))
    rows: list[dict[str, Any]] = []
    number = 1
    for each in random.Random(seed).sample(list(found), most):
        report = [asdict(snippet) for snippet in each.report]
        asked = _asked(each.text, each.missing)
        rows.append({"row": number, "revision": each.key, "position": each.position, "text": each.text,
                     "report": report, "asked": asked})  # fmt: skip
        number += len(asked)
    return rows


def kept(session: Session, sheet_id: int) -> list[ToRate]:
    """The texts of a kept sheet in its order.

    Raises `Conflict` where texts are parted into sentences otherwise by now, so that its numbers mean others.
    """
    query = select(SheetRevision).where(SheetRevision.sheet_id == sheet_id).order_by(SheetRevision.row)
    found: list[ToRate] = []
    for row in session.scalars(query):
        numbers = tuple(each["sentence"] for each in row.asked)
        if row.asked != _asked(row.text, numbers):
            raise Conflict(
                f"Texts are parted into sentences otherwise than when sheet {sheet_id} was drawn.", "Draw a new one."
            )
        report = tuple(Snippet(**snippet) for snippet in row.report)
        found.append(ToRate(row.position, row.revision, row.text, report, numbers))
    return found


def _check(found: Sequence[ToRate], size: int | None) -> None:
    if not found:
        raise NotFound(
            "There is no revision to rate.",
            "All that is on the board is rated, or nothing is published on this benchmark.",
        )
    if size is not None and size < 1:
        raise InvalidInput("The size of the sheet is not at least 1.", "Give the number of texts to draw.")


def _asked(text: str, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Each question with the place of what it is about: a sentence, or for the intent the whole text."""
    spans = places(text)
    found = []
    for number in numbers:
        start, end = (0, len(text)) if number == INTENT else spans[number - 1] if number <= len(spans) else (0, 0)
        found.append({"sentence": number, "start": start, "end": end})
    return found


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
