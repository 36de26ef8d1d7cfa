"""Joins rows to a benchmark's questions: by id, by exact text, by canonical text; never by guess."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.records import Question
from core.text import canonical_question
from submissions.formats.csv_rows import DELIMITERS
from submissions.formats.findings import Findings, excerpt

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class RawRow:
    """One row of a predictions file, as typed; nulls and absent optional columns are ""."""

    row: int
    question: str
    answer: str
    attribution: str
    id: str = ""

    @property
    def shown(self) -> str:
        """The start of the row, for people."""
        return excerpt(self.question or self.id)


@dataclass(frozen=True, slots=True)
class Match:
    """The question that a row answers, or why there is none."""

    question: Question | None
    loosely: bool = False
    reason: str = ""


class QuestionIndex:
    """A benchmark's questions by id and by text; a text that two questions share leads to neither."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self.questions = questions
        self._by_id = {question.id: question for question in questions}
        self._by_text = _unambiguous((question.text, question) for question in questions)

    @cached_property
    def _by_canonical(self) -> dict[str, Question | None]:
        return _unambiguous((canonical_question(question.text), question) for question in self.questions)

    def match(self, row: RawRow) -> Match:
        """The id decides where it is known; a question text beside it must not contradict it."""
        known = self._by_id.get(row.id) or self._by_id.get(row.id.strip()) if row.id else None
        if known is None and not row.question.strip():
            return Match(None, reason="The benchmark has no such id." if row.id.strip() else "The question is empty.")
        if known is None:
            return self._match_text(row.question)
        if row.question.strip() and canonical_question(row.question) != canonical_question(known.text):
            return Match(None, reason=f"The id “{excerpt(row.id)}” is that of another question. Correct it.")
        return Match(known)

    def _match_text(self, text: str) -> Match:
        if text in self._by_text:
            return _or_ambiguous(self._by_text[text], loosely=False)
        canonical = canonical_question(text)
        if canonical in self._by_canonical:
            return _or_ambiguous(self._by_canonical[canonical], loosely=True)
        return Match(None, reason="The benchmark has no such question.")


def _unambiguous(pairs: Iterable[tuple[str, Question]]) -> dict[str, Question | None]:
    index: dict[str, Question | None] = {}
    for text, question in pairs:
        index[text] = None if text in index else question
    return index


def _or_ambiguous(question: Question | None, loosely: bool) -> Match:
    if question is None:
        return Match(None, reason="Several questions of the benchmark have this text. Name its id in a column “id”.")
    return Match(question, loosely)


def join_rows(rows: Iterable[RawRow], index: QuestionIndex, findings: Findings) -> dict[int, RawRow]:
    """The row for each question answered, by position; counts and reports all others."""
    joined: dict[int, RawRow] = {}
    for row in rows:
        match = index.match(row)
        if match.question is None:
            findings.warn("unknown_question", match.reason, row.row, row.shown)
            continue
        first = joined.setdefault(match.question.position, row)
        if first is not row:
            message = f"Row {first.row} answers the same question. Keep one row per question."
            findings.problem("duplicate_question", message, row.row, row.shown)
        elif match.loosely:
            message = "The question is not written exactly as in the benchmark; it was joined loosely."
            findings.warn("joined_loosely", message, row.row, row.shown)
    findings.counts["matched"] = len(joined)
    for question in index.questions:
        if question.position not in joined:
            message = f"No row answers question {excerpt(question.id)}; it scores 0."
            findings.warn("missing_question", message, None, excerpt(question.text))
    return joined


def find_swallowed_rows(
    kind: str, header: Sequence[str], rows: Iterable[RawRow], missing: Sequence[Question], findings: Findings
) -> None:
    """Report quoted fields that hold whole rows of other questions.

    Two missing quotes can leave a file that is well-formed, with the rows between them inside one field. Such a field
    has a line that is a row of a question that no other row answers.
    """
    if kind not in DELIMITERS or not missing:
        return
    names = [name.strip().casefold() for name in header]
    keys = {"id": {question.id for question in missing}, "question": {question.text for question in missing}}
    places = [(names.index(name), values) for name, values in keys.items() if name in names]
    for row in rows:
        for text in (row.question, row.answer, row.attribution):
            if "\n" in text or "\r" in text:
                pieces = [line.split(DELIMITERS[kind]) for line in _LINE_END.split(text)[1:]]
                inside = [parts for parts in pieces if len(parts) == len(header) or parts is pieces[-1]]
                if any(at < len(parts) and parts[at] in values for parts in inside for at, values in places):
                    message = "A quoted field here holds rows of other questions: a double quote is missing."
                    findings.problem("quoting", message, row.row, row.shown)
                    break
