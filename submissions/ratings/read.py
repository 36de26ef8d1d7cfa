"""A file of human ratings: read, joined to a benchmark's questions and corpus, with a complete report."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.records import Question, Report
from core.text import near_key, triple_key
from submissions.formats import (
    Findings,
    Limits,
    QuestionIndex,
    RawRow,
    Resolve,
    Table,
    TableRow,
    excerpt,
    read_table,
)
from submissions.formats.table import begin
from submissions.ratings.columns import COLUMNS, PRE_AGGREGATED, RATER_LEVEL, answers_of, check_header, kind_of
from submissions.ratings.returned import SheetRows, restore

COUNTS = (
    "rows",
    "matched",
    "joined_loosely",
    "unknown_question",
    "unknown_attribution",
    "empty_answer",
    "empty_attribution",
    "bad_answer",
    "no_rater",
    "rated_twice",
    "repeated_row",
    "unknown_sheet_row",
    "not_filled_in",
)


@dataclass(frozen=True, slots=True)
class Rating:
    """One row of a batch: a rater's word on a triple, or a pre-aggregated label, whose `rater` is empty."""

    row: int
    position: int
    answer: str
    passage_id: str
    triple: bytes
    near: bytes
    rater: str
    interpretable: bool | None
    supported: bool | None
    positive: bool
    known: bool | None = None
    system: str = ""
    note: str = ""
    rated_at: str | None = None


@dataclass(frozen=True)
class RatingFile:
    """What a file amounts to; `ratings` is empty if the report is not accepted. `digest` is the bytes' sha256."""

    kind: str
    """rater-level, pre-aggregated, or "" if the header tells neither."""
    qualification: bool
    digest: str
    ratings: list[Rating]
    report: Report
    splitter: str | None = None
    """None: triples have no sentences."""


@dataclass(frozen=True)
class Ground:
    """What ratings are joined to: questions, a corpus, pseudonyms; `skip_unknown` leaves out what cannot be rated."""

    questions: Sequence[Question]
    resolve: Resolve
    pseudonym: Callable[[str], str]
    limits: Limits
    skip_unknown: bool = False
    sheet_rows: SheetRows = lambda names: {}
    """From names in the column `sheet_row` to the triples they stand for."""


def read_ratings(data: bytes, name: str, ground: Ground) -> RatingFile:
    """Read rater-level or pre-aggregated ratings; never raises for a bad file, and takes it whole or not at all.

    Where the column `sheet_row` names a row of a sheet, the triple is that row's, whatever a spreadsheet made of it;
    such rows that no rater filled in are left out. Rows without answer or attribution, or with an attribution that
    the corpus does not know, cannot be rated: they refuse the file, or with `skip_unknown` are left out and counted.
    """
    table = read_table(io.BytesIO(data), name, ground.limits, COLUMNS)
    digest = hashlib.sha256(data).hexdigest()
    findings, refused = begin(table, COUNTS)
    if refused:
        return RatingFile("", False, digest, [], refused)
    kind, qualification = kind_of(table.header)
    check_header(table.header, findings)
    rows = [] if findings.refused else _once(_ratings(table, kind, ground, findings), kind, findings)
    if not rows and not findings.refused:
        findings.problem("no_match", "The file holds no rating that can be taken.")
    findings.counts["matched"] = len(rows)
    report = findings.report()
    return RatingFile(kind, qualification, digest, rows if report.accepted else [], report)


def _ratings(table: Table, kind: str, ground: Ground, findings: Findings) -> list[Rating]:
    index = QuestionIndex(ground.questions)
    rows = restore(table.rows, ground.questions, ground.sheet_rows, findings)
    wanted = sorted({(row.cells.get("attribution") or "").strip() for row in rows} - {""})
    resolved = ground.resolve(wanted) if wanted else {}
    found = [_rating(row, kind, index, resolved, ground, findings) for row in rows]
    return [rating for rating in found if rating is not None]


def _rating(
    row: TableRow,
    kind: str,
    index: QuestionIndex,
    resolved: Mapping[str, str | None],
    ground: Ground,
    findings: Findings,
) -> Rating | None:
    cells = {name: text or "" for name, text in row.cells.items()}
    if not any(text.strip() for text in cells.values()):
        return None
    answers = answers_of(row.row, cells, kind, findings)
    question = _question(row.row, cells, index, findings)
    answer, attribution = cells.get("answer", ""), cells.get("attribution", "").strip()
    passage = resolved.get(attribution)
    rater = cells.get("rater", "").strip() if kind == RATER_LEVEL else ""
    if kind == RATER_LEVEL and not rater:
        findings.problem("no_rater", "The rater is not named.", row.row, excerpt(cells.get("question", "")))
    report = findings.warn if ground.skip_unknown else findings.problem
    if not answer.strip():
        report("empty_answer", "There is no answer, so there is nothing to rate.", row.row, excerpt(attribution))
    elif not attribution:
        report("empty_attribution", "There is no attribution, so there is nothing to rate.", row.row, excerpt(answer))
    elif passage is None:
        message = "The benchmark's corpus has no passage with this id."
        report("unknown_attribution", message, row.row, excerpt(attribution))
    elif question is not None and answers is not None and (rater or kind == PRE_AGGREGATED):
        return Rating(
            row.row, question.position, answer, passage,
            triple_key(question.position, answer, passage), near_key(question.position, answer, passage),
            ground.pseudonym(rater) if rater else "", answers.interpretable, answers.supported, answers.positive,
            answers.known, cells.get("system", ""), cells.get("note", ""), cells.get("rated_at") or None,
        )  # fmt: skip
    return None


def _question(row: int, cells: Mapping[str, str], index: QuestionIndex, findings: Findings) -> Question | None:
    shown = excerpt(cells.get("question") or cells.get("id", ""))
    match = index.match(RawRow(row, cells.get("question", ""), "", "", cells.get("id", "")))
    if match.question is None:
        findings.problem("unknown_question", match.reason, row, shown)
    elif match.loosely:
        message = "The question is not written exactly as in the benchmark; it was joined loosely."
        findings.warn("joined_loosely", message, row, shown)
    return match.question


def _once(ratings: Sequence[Rating], kind: str, findings: Findings) -> list[Rating]:
    """A rater's only rating of each triple: a second one refuses the file; an equal pre-aggregated one is left out."""
    first: dict[tuple[bytes, str], Rating] = {}
    for rating in ratings:
        earlier = first.setdefault((rating.triple, rating.rater), rating)
        if earlier is rating:
            continue
        if kind == PRE_AGGREGATED and earlier.positive == rating.positive:
            message = f"Row {earlier.row} gives this triple the same label; it counts once."
            findings.warn("repeated_row", message, rating.row, excerpt(rating.answer))
        else:
            who = (
                f"{rating.rater} rated this triple in row {earlier.row}"
                if rating.rater
                else (f"Row {earlier.row} gives this triple the other label")
            )
            findings.problem(
                "rated_twice", f"{who} already. Keep one of the two rows.", rating.row, excerpt(rating.answer)
            )
    return list(first.values())
