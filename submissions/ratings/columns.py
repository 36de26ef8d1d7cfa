"""The columns of a ratings file, and what its Y and N mean (AQA §3.1: two questions, the second only after a yes)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from submissions.formats import Findings, excerpt

RATER_LEVEL = "rater-level"
PRE_AGGREGATED = "pre-aggregated"
COLUMNS = (
    "id", "question", "answer", "attribution", "human_rating", "rater", "interpretable", "supported",
    "known", "system", "note", "rated_at", "sheet_row",
)  # fmt: skip
_NEEDED = {RATER_LEVEL: ("rater", "interpretable", "supported"), PRE_AGGREGATED: ("human_rating",)}
_YES_NO = {"y": True, "yes": True, "n": False, "no": False}


@dataclass(frozen=True, slots=True)
class Answers:
    """What a row says; `interpretable` and `supported` are None where they were not asked."""

    interpretable: bool | None
    supported: bool | None
    positive: bool
    known: bool | None = None


def kind_of(header: Sequence[str]) -> tuple[str, bool]:
    """The kind of ratings file that a header tells ("" for none), and whether it is a qualification batch."""
    names = {name.strip().casefold() for name in header}
    if "human_rating" in names:
        return PRE_AGGREGATED, False
    return (RATER_LEVEL if names & set(_NEEDED[RATER_LEVEL]) else ""), "known" in names


def check_header(header: Sequence[str], findings: Findings) -> None:
    """Report columns that are missing, or that belong to the other kind of file."""
    names = {name.strip().casefold() for name in header}
    kind, _ = kind_of(header)
    lacking = [name for name in ("answer", "attribution", *_NEEDED.get(kind, ())) if name not in names]
    if not names & {"id", "question"}:
        lacking.insert(0, "question")
    if not kind:
        findings.problem(
            "wrong_header",
            "The file has neither the columns of rater-level ratings (question, answer, attribution, rater, "
            "interpretable, supported) nor human_rating, the column of pre-aggregated ones.",
        )
    elif lacking:
        findings.problem("wrong_header", f"Columns are missing for {kind} ratings: {', '.join(lacking)}.")
    elif kind == PRE_AGGREGATED and (both := sorted(names & {*_NEEDED[RATER_LEVEL], "known"})):
        message = f"human_rating stands beside {', '.join(both)}. Give raters' answers or their majority, not both."
        findings.problem("wrong_header", message)


def answers_of(row: int, cells: Mapping[str, str], kind: str, findings: Findings) -> Answers | None:
    """The row's answers, or None with the fault reported."""
    if kind == PRE_AGGREGATED:
        label = yes_no(row, cells, "human_rating", findings)
        return None if label is None else Answers(None, None, label)
    known = yes_no(row, cells, "known", findings) if "known" in cells else None
    if "known" in cells and known is None:
        return None
    interpretable = yes_no(row, cells, "interpretable", findings)
    given = bool(cells.get("supported", "").strip())
    if interpretable is False and given:
        message = "“supported” is answered although “interpretable” is N. Leave it empty: it was not to be asked."
        findings.problem("bad_answer", message, row, excerpt(cells["supported"]))
        return None
    if not interpretable:
        return None if interpretable is None else Answers(False, None, False, known)
    supported = yes_no(row, cells, "supported", findings)
    return None if supported is None else Answers(True, supported, supported, known)


def yes_no(row: int, cells: Mapping[str, str], column: str, findings: Findings) -> bool | None:
    """What a column's Y or N says, or None with the fault reported."""
    text = cells.get(column, "").strip()
    value = _YES_NO.get(text.casefold())
    if value is None:
        shown = f"“{excerpt(text)}”" if text else "empty"
        findings.problem("bad_answer", f"“{column}” is {shown}. Write Y or N.", row, excerpt(text))
    return value
