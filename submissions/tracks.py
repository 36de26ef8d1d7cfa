"""What an entry is in each track: how its file is read, what is stored of it, and what to start from."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, BinaryIO, Protocol

from sqlalchemy import insert
from sqlalchemy.orm import Session

from core.benchmark import Benchmark, Benchmarks
from core.bulk import insert_rows
from core.records import Question, Report
from core.tables import PredictionRow, RevisionRow
from core.tracks import EDITING, QA, WORDS
from submissions import formats
from submissions.editing import template as passages_template
from submissions.editing.entries import AcceptedRevisions, read_revisions
from submissions.formats import Accepted, Limits, read_predictions


class Read(Protocol):
    """What every track's reader gives; `coverage` is in [0, 1]."""

    @property
    def report(self) -> Report: ...

    @property
    def digest(self) -> str: ...

    @property
    def coverage(self) -> float: ...


@dataclass(frozen=True)
class EntryKind:
    """One track's entries. `rows` gives the content that scoring reads; `store` inserts it for a submission."""

    read: Callable[[BinaryIO, str, Benchmark, Benchmarks, Limits], Any]
    rows: Callable[[Any], Sequence[Any]]
    store: Callable[[Session, str, Any], None]
    template: Callable[[Sequence[Question], str], bytes]


def of(benchmark: Benchmark) -> EntryKind:
    """The entries that a benchmark takes."""
    return _KINDS[benchmark.track]


def read(stream: BinaryIO, name: str, benchmark: Benchmark, benchmarks: Benchmarks, limits: Limits) -> Read:
    """Read an entry; its report says, too, if it would not be ranked. Never raises for a bad file."""
    found = of(benchmark).read(stream, name, benchmark, benchmarks, limits)
    total = len(benchmark.questions)
    if found.report.accepted and found.coverage < benchmark.minimum_coverage:
        words, has = WORDS[benchmark.track], round(found.coverage * total)
        # As many as make the quotient reach the minimum, whatever the product of the two is rounded to.
        needed = next(
            n
            for n in range(math.floor(benchmark.minimum_coverage * total), total + 1)
            if n / total >= benchmark.minimum_coverage
        )
        note = (
            f"It {words.does} {has:,} of {total:,} {words.item}s ({_percent(has, total)}). A rank takes {needed:,} "
            f"({_percent(benchmark.minimum_coverage, 1)}), so this is scored but not ranked."
        )
        found = replace(found, report=replace(found.report, notes=(note, *found.report.notes)))
    told: Read = found
    return told


def _percent(part: float, whole: int) -> str:
    """Cut, not rounded: what lacks one of many must not read as all of them."""
    return f"{math.floor(1_000 * part / whole + 1e-9) / 10:g} %"


def _read_predictions(
    stream: BinaryIO, name: str, benchmark: Benchmark, benchmarks: Benchmarks, limits: Limits
) -> Accepted:
    return read_predictions(stream, name, benchmark.questions, benchmarks.corpus(benchmark).resolve, limits)


def _store_predictions(session: Session, submission_id: str, accepted: Accepted) -> None:
    insert_rows(
        session, PredictionRow, ("submission_id", "position", "answer", "attribution", "passage_id"),
        [(submission_id, p.position, p.answer, p.attribution, p.passage_id) for p in accepted.predictions],
    )  # fmt: skip


def _read_revisions(
    stream: BinaryIO, name: str, benchmark: Benchmark, benchmarks: Benchmarks, limits: Limits
) -> AcceptedRevisions:
    return read_revisions(stream, name, benchmark.questions, limits)


def _store_revisions(session: Session, submission_id: str, accepted: AcceptedRevisions) -> None:
    session.execute(
        insert(RevisionRow),
        [
            {"submission_id": submission_id, "position": r.position, "text": r.text,
             "report": [asdict(snippet) for snippet in r.report]}
            for r in accepted.revisions
        ],
    )  # fmt: skip


_KINDS: dict[str, EntryKind] = {
    QA: EntryKind(_read_predictions, lambda found: found.predictions, _store_predictions, formats.template),
    EDITING: EntryKind(
        _read_revisions, lambda found: found.revisions, _store_revisions, passages_template.template
    ),
}  # fmt: skip
