"""What the columns of a file of editing labels mean: one row is one rater's word on one sentence, or on the intent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from submissions.editing.labels import INTENT
from submissions.editing.report_cells import NUMBERED
from submissions.formats import Findings, excerpt
from submissions.ratings.columns import yes_no

SPLITTER = "splitter"
"""The column in which a sheet says what parted its texts into sentences."""
SHOWN = ("original", "context", "sentence_text", "evidence")
"""Columns of a sheet that raters read and that change nothing when it comes back, but for `sentence_text`."""
COLUMNS = (
    "id", "key", "revised", "report", *NUMBERED, "sentence", "rater", "supported", "intent", "note", SPLITTER,
    *SHOWN,
)  # fmt: skip
_HIGHEST = 10_000


@dataclass(frozen=True, slots=True)
class Word:
    """What a row says: of which sentence (`INTENT` for the whole text), and yes or no."""

    sentence: int
    positive: bool


def check_header(header: Sequence[str], findings: Findings) -> None:
    """Report columns that are missing."""
    names = {name.strip().casefold() for name in header}
    lacking = [name for name in ("id", "rater") if name not in names]
    if "supported" in names:
        lacking += ["sentence"] * ("sentence" not in names)
    elif "intent" not in names:
        lacking.append("supported (or intent)")
    if "key" not in names and not ("revised" in names and names & {"report", "evidence_1"}):
        lacking.append("key (or revised and report)")
    if lacking:
        findings.problem("wrong_header", f"Columns are missing for ratings of revisions: {', '.join(lacking)}.")


def filled_in(cells: Mapping[str, str]) -> bool:
    """True if a rater answered something."""
    return any(cells.get(column, "").strip() for column in ("supported", "intent"))


def word_of(row: int, cells: Mapping[str, str], findings: Findings) -> Word | None:
    """The row's answer, or None with the fault reported."""
    sentence = _number(row, cells.get("sentence", "").strip(), findings)
    if sentence is None:
        return None
    asked, other = ("intent", "supported") if sentence == INTENT else ("supported", "intent")
    if cells.get(other, "").strip():
        where = "the row of a sentence (1 and up)" if sentence == INTENT else "the row whose sentence is 0"
        message = f"“{other}” is answered here; it is asked in {where}."
        findings.problem("bad_answer", message, row, excerpt(cells[other]))
        return None
    said = yes_no(row, cells, asked, findings)
    return None if said is None else Word(sentence, said)


def _number(row: int, text: str, findings: Findings) -> int | None:
    if not text:
        return INTENT
    if text.isascii() and text.isdigit() and len(text) < 6 and int(text) <= _HIGHEST:
        return int(text)
    message = "“sentence” is not a number. Write 1 for the first sentence and so on, 0 for the whole text."
    findings.problem("bad_sentence", message, row, excerpt(text))
    return None
