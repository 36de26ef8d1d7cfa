"""Sheets that come back: rows that name their triple take it from the stored sheet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from core.records import Question
from core.tables import SheetRow
from core.text import canonical_question
from submissions.formats import Findings, TableRow, excerpt

SheetRows = Callable[[Sequence[str]], Mapping[str, SheetRow]]
_BY_RATER = ("interpretable", "supported", "human_rating")


def restore(
    rows: Sequence[TableRow], questions: Sequence[Question], look_up: SheetRows, findings: Findings
) -> list[TableRow]:
    """The rows, with answer and attribution as the sheet has them where `sheet_row` is filled in.

    Spreadsheets turn `007` into 7 and put apostrophes before formulas; the question, which they leave alone, must
    still be that of the sheet. Rows of a sheet that no rater filled in are left out and counted.
    """
    names = {row.row: (row.cells.get("sheet_row") or "").strip() for row in rows}
    known = look_up(sorted(set(names.values()) - {""})) if any(names.values()) else {}
    kept = []
    for row in rows:
        name = names[row.row]
        if not name:
            kept.append(row)
        elif name not in known:
            findings.problem("unknown_sheet_row", "There is no such row of a sheet here.", row.row, excerpt(name))
        elif not any((row.cells.get(column) or "").strip() for column in _BY_RATER):
            findings.warn("not_filled_in", "No rater has filled in this row; it was left out.", row.row, excerpt(name))
        else:
            kept += _restored(row, known[name], questions, findings)
    return kept


def _restored(row: TableRow, place: SheetRow, questions: Sequence[Question], findings: Findings) -> list[TableRow]:
    question = questions[place.position].text
    given = row.cells.get("question") or ""
    if canonical_question(given.removeprefix("'")) != canonical_question(question.removeprefix("'")):
        message = "The question is not the one that stands in this row of the sheet. Were columns sorted apart?"
        findings.problem("unknown_sheet_row", message, row.row, excerpt(given))
        return []
    triple: dict[str, str | None] = {"question": question, "answer": place.answer, "attribution": place.passage_id}
    return [TableRow(row.row, row.cells | triple)]
