"""A predictions file: read, joined to a benchmark's questions, with a complete report."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from core.records import Prediction, Question, Report
from core.text import lenient_normalise, squad_normalise
from submissions.formats.columns import listed
from submissions.formats.findings import Findings, excerpt
from submissions.formats.join import QuestionIndex, RawRow, check_match, find_swallowed_rows, join_rows
from submissions.formats.limits import Limits
from submissions.formats.rows import TableRow
from submissions.formats.table import Table, begin, read_table, whole_rows

COLUMNS = ("id", "question", "answer", "attribution")
COUNTS = (
    "rows",
    "matched",
    "joined_loosely",
    "unknown_question",
    "missing_question",
    "duplicate_question",
    "empty_answer",
    "empty_attribution",
    "unknown_attribution",
    "overlong_field",
    "unusual_characters",
)
Resolve = Callable[[Sequence[str]], Mapping[str, str | None]]


@dataclass(frozen=True)
class ReadFile:
    """A predictions file before it meets a benchmark; `rows` is empty if the report is not accepted."""

    rows: list[RawRow]
    kind: str
    columns: tuple[str, ...]
    report: Report


@dataclass(frozen=True)
class Accepted:
    """What a file amounts to; no predictions, digest "" and coverage 0 if the report is not accepted.

    `predictions` are sorted by position; `digest` is the sha256 of question ids, answers and attributions (trimmed) in
    the benchmark's order, so it does not depend on the type of file; `coverage` is in [0, 1].
    """

    predictions: list[Prediction]
    report: Report
    digest: str
    coverage: float


def read_rows(stream: BinaryIO, name: str, limits: Limits) -> ReadFile:
    """Read a predictions file without a benchmark; never raises for a bad file."""
    table, found = _read(stream, name, limits)
    if isinstance(found, Report):
        return ReadFile([], table.kind, table.header, found)
    report = found.findings.report() if found.complete else found.findings.early_report()
    return ReadFile(found.rows if report.accepted else [], table.kind, table.header, report)


def read_predictions(
    stream: BinaryIO, name: str, questions: Sequence[Question], resolve: Resolve, limits: Limits
) -> Accepted:
    """Read a predictions file for a benchmark; never raises for a bad file, and takes it whole or not at all.

    `resolve` maps attributions to corpus ids, or to None where the corpus has no such id. `name` serves messages only.
    """
    table, found = _read(stream, name, limits)
    if isinstance(found, Report):
        return Accepted([], found, "", 0.0)
    findings, index = found.findings, QuestionIndex(questions)
    joined = join_rows(found.rows, index, findings, found.complete)
    missing = [question for question in questions if question.position not in joined]
    find_swallowed_rows(table.kind, table.header, found.rows, missing, findings)
    if found.rows or found.complete:
        check_match(found.rows, index, joined, findings)
    predictions = _predictions(joined, resolve, findings)
    report = findings.report()
    if not report.accepted:
        return Accepted([], report, "", 0.0)
    return Accepted(predictions, report, content_digest(predictions, questions), len(predictions) / len(questions))


@dataclass(frozen=True)
class _Rows:
    """The sound rows; `complete` if there are no others."""

    rows: list[RawRow]
    findings: Findings
    complete: bool


def _read(stream: BinaryIO, name: str, limits: Limits) -> tuple[Table, _Rows | Report]:
    """A file's rows, or the report where there is no telling which they are."""
    table = read_table(stream, name, limits, COLUMNS)
    findings, refused = begin(table, COUNTS, go_on=True)
    if refused:
        return table, refused
    if table.rows or not findings.refused:
        _check_header(table, findings)
    if "wrong_header" in findings.counts or (findings.refused and not table.rows):
        return table, findings.early_report()
    mend = 'Write null or "" for a value that there is not.'
    rows = [_raw_row(row) for row in whole_rows(table, _lacking, mend, findings)]
    return table, _Rows(rows, findings, not findings.refused)


def content_digest(predictions: Sequence[Prediction], questions: Sequence[Question]) -> str:
    """sha256 (hexadecimal) of one JSON line [question id, answer, attribution] per prediction, by position."""
    ids = {question.position: question.id for question in questions}
    digest = hashlib.sha256()
    for prediction in sorted(predictions, key=lambda each: each.position):
        line = [ids[prediction.position], prediction.answer, prediction.attribution.strip()]
        digest.update(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8") + b"\n")
    return digest.hexdigest()


def _check_header(table: Table, findings: Findings) -> None:
    if not table.header and not table.rows:
        findings.problem("no_match", "The file holds no rows, so no question of the benchmark is answered.")
        return
    names = {name.strip().casefold() for name in table.header}
    lacking = [name for name in ("question", "answer", "attribution") if name not in names]
    if "id" in names and "question" in lacking:
        lacking.remove("question")
    if lacking:
        message = (
            f"Columns are missing: {listed(lacking)}. Needed are “question” (or “id”), “answer” and "
            f"“attribution”; found: {listed(table.header)}."
        )
        if table.kind in ("csv", "tsv"):
            message += " The first row must name the columns, parted by commas or tabs"
            message += ", not by semicolons." if ";" in "".join(table.header) else "."
        findings.problem("wrong_header", message)


def _lacking(there: Collection[str]) -> list[str]:
    question = [] if "question" in there or "id" in there else ["question"]
    return question + [name for name in ("answer", "attribution") if name not in there]


def _raw_row(row: TableRow) -> RawRow:
    return RawRow(row=row.row, **{name: row.cells.get(name) or "" for name in COLUMNS})


def _predictions(joined: Mapping[int, RawRow], resolve: Resolve, findings: Findings) -> list[Prediction]:
    """Predictions by position; warns of answers and attributions that will count as nothing."""
    wanted = {row.attribution.strip() for row in joined.values()} - {""}
    resolved = resolve(sorted(wanted)) if wanted else {}
    predictions: list[Prediction] = []
    for position, row in sorted(joined.items()):
        passage = resolved.get(row.attribution.strip())
        predictions.append(Prediction(position, row.answer, row.attribution, passage))
        _warn_of_answer(row, findings)
        if not row.attribution.strip():
            findings.warn("empty_attribution", "There is no attribution.", row.row, row.shown)
        elif passage is None:
            message = "The benchmark's corpus has no passage with this id."
            findings.warn("unknown_attribution", message, row.row, excerpt(row.attribution))
    if joined and findings.counts["empty_answer"] == len(joined):
        findings.note("Every answer is empty. Is this the template, not filled in yet?")
    return predictions


def _warn_of_answer(row: RawRow, findings: Findings) -> None:
    if not row.answer.strip():
        findings.warn("empty_answer", "The answer is empty; it scores 0.", row.row, row.shown)
    elif not row.answer.isascii() and lenient_normalise(row.answer) != squad_normalise(row.answer):
        message = (
            "The answer has typographic dashes or quotes, invisible or decomposed characters; exact match takes them "
            "as they are."
        )
        findings.warn("unusual_characters", message, row.row, excerpt(row.answer))
