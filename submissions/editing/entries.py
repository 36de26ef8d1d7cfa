"""An entry of the editing track: read, joined to a benchmark's passages, with a complete report (RARR §2)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from core.editing import LARGEST_REPORT, LONGEST_TEXT, MOST_SENTENCES, Revision, sentence_ends
from core.records import Question, Report
from submissions.editing.report_cells import NUMBERED, Reports
from submissions.formats import Findings, Limits, QuestionIndex, Table, TableRow, excerpt, read_table
from submissions.formats.columns import listed
from submissions.formats.join import Words, check_match, find_swallowed_rows, join_rows
from submissions.formats.table import begin, whole_rows

PASSAGE = Words("passage", "revises", "revised", ("text", "passage"))
COLUMNS = ("id", *PASSAGE.columns, "revised", "report", *NUMBERED)
COUNTS = (
    "rows",
    "matched",
    "unchanged",
    "joined_loosely",
    "unknown_passage",
    "missing_passage",
    "duplicate_passage",
    "empty_revision",
    "empty_report",
    "empty_snippet",
    "too_many_snippets",
    "bad_report",
    "overlong_field",
    "too_many_sentences",
)
_EVIDENCE = re.compile(r"evidence_([1-9][0-9]?)")
_LIKE_EVIDENCE = re.compile(r"evidence[_ -]?\d+")


@dataclass(frozen=True)
class AcceptedRevisions:
    """What a file amounts to; no revisions, digest "" and coverage 0 if the report is not accepted.

    `revisions` are sorted by position; `digest` is the sha256 of ids, revised texts and reports in the benchmark's
    order, so it does not depend on the type of file; `coverage` is in [0, 1].
    """

    revisions: list[Revision]
    report: Report
    digest: str
    coverage: float


@dataclass(frozen=True, slots=True)
class _Row:
    row: int
    id: str
    question: str
    revised: str
    cells: Mapping[str, str | None]

    @property
    def shown(self) -> str:
        return excerpt(self.question or self.id)

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(text or "" for text in self.cells.values())


def read_revisions(stream: BinaryIO, name: str, passages: Sequence[Question], limits: Limits) -> AcceptedRevisions:
    """Read an entry for the passages; never raises for a bad file, and takes it whole or not at all.

    `name` serves messages only.
    """
    table = read_table(stream, name, limits, COLUMNS, nested=("report",))
    findings, refused = begin(table, COUNTS, go_on=True)
    if refused:
        return AcceptedRevisions([], refused, "", 0.0)
    if table.rows or not findings.refused:
        _check_header(table, findings)
    if "wrong_header" in findings.counts or (findings.refused and not table.rows):
        return AcceptedRevisions([], findings.early_report(), "", 0.0)
    rows = _rows(table, findings)
    complete, index = not findings.refused, QuestionIndex(passages, PASSAGE)
    joined = join_rows(rows, index, findings, complete)
    missing = [passage for passage in passages if passage.position not in joined]
    find_swallowed_rows(table.kind, table.header, rows, missing, findings, PASSAGE)
    if rows or complete:
        check_match(rows, index, joined, findings)
    revisions = _revisions(joined, passages, limits, findings)
    report = findings.report()
    if not report.accepted:
        return AcceptedRevisions([], report, "", 0.0)
    return AcceptedRevisions(revisions, report, content_digest(revisions, passages), len(revisions) / len(passages))


def content_digest(revisions: Sequence[Revision], passages: Sequence[Question]) -> str:
    """sha256 (hexadecimal) of one JSON line [id, revised, [[text, source, query], …]] per revision, by position."""
    ids = {passage.position: passage.id for passage in passages}
    digest = hashlib.sha256()
    for revision in sorted(revisions, key=lambda each: each.position):
        report = [[snippet.text, snippet.source.strip(), snippet.query] for snippet in revision.report]
        line = [ids[revision.position], revision.text, report]
        digest.update(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8") + b"\n")
    return digest.hexdigest()


def _check_header(table: Table, findings: Findings) -> None:
    if not table.header and not table.rows:
        findings.problem("no_match", "The file holds no rows, so no passage of the benchmark is revised.")
        return
    names = {name.strip().casefold() for name in table.header}
    numbered = sorted(int(found[1]) for name in names if (found := _EVIDENCE.fullmatch(name)))
    lacking = ["revised"] * ("revised" not in names)
    lacking += ["id"] * (not names & {"id", *PASSAGE.columns})
    lacking += ["report"] * ("report" not in names and not numbered)
    if lacking:
        message = (
            f"Columns are missing: {listed(lacking)}. Needed are “id” (or “text”, the passage itself), “revised” and "
            f"“report” (or “evidence_1” and so on); found: {listed(table.header)}."
        )
        findings.problem("wrong_header", message)
    for name in sorted(name for name in names if _LIKE_EVIDENCE.fullmatch(name) and not _EVIDENCE.fullmatch(name)):
        message = f"Column “{excerpt(name)}” would not be read: they are named evidence_1 to evidence_{LARGEST_REPORT}."
        findings.problem("wrong_header", message)
    if numbered and numbered[-1] > LARGEST_REPORT:
        message = f"There is a column “evidence_{numbered[-1]}”; a report holds at most {LARGEST_REPORT} snippets."
        findings.problem("too_many_snippets", message)
    if "report" in names and numbered:
        findings.problem("wrong_header", "Give the snippets in “report” or in “evidence_1” and so on, not in both.")
    if names >= set(PASSAGE.columns):
        findings.problem("wrong_header", "“text” and “passage” both mean the passage to revise. Keep one of them.")


def _rows(table: Table, findings: Findings) -> list[_Row]:
    numbered = any(_EVIDENCE.fullmatch(name.strip().casefold()) for name in table.header)

    def lacking(there: Collection[str]) -> list[str]:
        names = ["revised"] * ("revised" not in there) + ["report"] * ("report" not in there and not numbered)
        return names + ["id"] * (not {"id", *PASSAGE.columns} & set(there))

    mend = 'Write "" for a text and [] for a report that there is not.'
    return [_row(row) for row in whole_rows(table, lacking, mend, findings)]


def _row(row: TableRow) -> _Row:
    cells = row.cells
    text = cells.get("text") or cells.get("passage") or ""
    return _Row(row.row, cells.get("id") or "", text, cells.get("revised") or "", cells)


def _revisions(
    joined: Mapping[int, _Row], passages: Sequence[Question], limits: Limits, findings: Findings
) -> list[Revision]:
    """Revisions by position; warns of what will count as nothing."""
    reports = Reports(limits, findings)
    revisions: list[Revision] = []
    for position, row in sorted(joined.items()):
        snippets = reports.read(row.row, row.cells)
        revisions.append(Revision(position, row.revised, snippets))
        _warn(row, passages[position].text, findings)
    if joined and findings.counts["empty_revision"] == len(joined):
        findings.note("Every revised text is empty. Is this the template, not filled in yet?")
    return revisions


def _warn(row: _Row, original: str, findings: Findings) -> None:
    if len(row.revised) > LONGEST_TEXT:
        message = f"The revised text has more than {LONGEST_TEXT:,} characters."
        findings.problem("overlong_field", message, row.row, row.shown)
    elif (ends := sentence_ends(row.revised)) > MOST_SENTENCES:
        message = f"The revised text has {ends:,} ends of sentences; at most {MOST_SENTENCES} are allowed."
        findings.problem("too_many_sentences", message, row.row, row.shown)
    elif not row.revised.strip():
        findings.warn("empty_revision", "The revised text is empty; it scores 0.", row.row, row.shown)
    elif row.revised.strip() == original.strip():
        findings.counts["unchanged"] += 1
