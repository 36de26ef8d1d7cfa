"""Joins rows to a benchmark's questions or passages: by id, by exact text, by canonical text; never by guess."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

from core.records import Question
from core.text import canonical_question
from submissions.formats.csv_rows import DELIMITERS
from submissions.formats.findings import Findings, excerpt

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Words:
    """What a track's benchmark items are called, what a row does to one, and the columns that hold their text."""

    noun: str
    verb: str
    done: str
    columns: tuple[str, ...]


QUESTION = Words("question", "answers", "answered", ("question",))


class JoinRow(Protocol):
    """A row that names its item by id, by text, or by both."""

    @property
    def row(self) -> int: ...

    @property
    def id(self) -> str: ...

    @property
    def question(self) -> str:
        """The item's text."""
        ...

    @property
    def shown(self) -> str:
        """The start of the row, for people."""
        ...

    @property
    def texts(self) -> tuple[str, ...]:
        """All fields in which a missing quote could hide rows."""
        ...


AnyRow = TypeVar("AnyRow", bound=JoinRow)


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

    @property
    def texts(self) -> tuple[str, ...]:
        """All fields in which a missing quote could hide rows."""
        return self.question, self.answer, self.attribution


@dataclass(frozen=True, slots=True)
class Match:
    """The question that a row answers, or why there is none."""

    question: Question | None
    loosely: bool = False
    reason: str = ""


class QuestionIndex:
    """A benchmark's questions by id and by text; a text that two questions share leads to neither."""

    def __init__(self, questions: Sequence[Question], words: Words = QUESTION) -> None:
        self.questions = questions
        self.words = words
        self._by_id = {question.id: question for question in questions}
        self._by_text = _unambiguous((question.text, question) for question in questions)

    @cached_property
    def _by_canonical(self) -> dict[str, Question | None]:
        return _unambiguous((canonical_question(question.text), question) for question in self.questions)

    def match(self, row: JoinRow) -> Match:
        """The id decides where it is known; a question text beside it must not contradict it."""
        known = self._by_id.get(row.id) or self._by_id.get(row.id.strip()) if row.id else None
        if known is None and not row.question.strip():
            return Match(
                None, reason="The benchmark has no such id." if row.id.strip() else self._says("The {} is empty.")
            )
        if known is None:
            return self._match_text(row.question)
        if row.question.strip() and canonical_question(row.question) != canonical_question(known.text):
            return Match(None, reason=self._says(f"The id “{excerpt(row.id)}” is that of another {{}}. Correct it."))
        return Match(known)

    def _match_text(self, text: str) -> Match:
        if text in self._by_text:
            return self._or_ambiguous(self._by_text[text], loosely=False)
        canonical = canonical_question(text)
        if canonical in self._by_canonical:
            return self._or_ambiguous(self._by_canonical[canonical], loosely=True)
        return Match(None, reason=self._says("The benchmark has no such {}."))

    def _or_ambiguous(self, question: Question | None, loosely: bool) -> Match:
        if question is None:
            reason = self._says("Several {}s of the benchmark have this text. Name its id in a column “id”.")
            return Match(None, reason=reason)
        return Match(question, loosely)

    def _says(self, sentence: str) -> str:
        return sentence.replace("{}", self.words.noun)


def _unambiguous(pairs: Iterable[tuple[str, Question]]) -> dict[str, Question | None]:
    index: dict[str, Question | None] = {}
    for text, question in pairs:
        index[text] = None if text in index else question
    return index


def join_rows(
    rows: Iterable[AnyRow], index: QuestionIndex, findings: Findings, complete: bool = True
) -> dict[int, AnyRow]:
    """The row for each question answered, by position; counts and reports all others.

    Without the `complete` rows of a file nobody knows what it leaves out, and that is not counted.
    """
    noun, verb = index.words.noun, index.words.verb
    joined: dict[int, AnyRow] = {}
    for row in rows:
        match = index.match(row)
        if match.question is None:
            findings.warn(f"unknown_{noun}", match.reason, row.row, row.shown)
            continue
        first = joined.setdefault(match.question.position, row)
        if first is not row:
            message = f"Row {first.row} {verb} the same {noun}. Keep one row per {noun}."
            findings.problem(f"duplicate_{noun}", message, row.row, row.shown)
        elif match.loosely:
            message = f"The {noun} is not written exactly as in the benchmark; it was joined loosely."
            findings.warn("joined_loosely", message, row.row, row.shown)
    findings.counts["matched"] = len(joined)
    if not complete:
        del findings.counts[f"missing_{noun}"]
        return joined
    for question in index.questions:
        if question.position not in joined:
            message = f"No row {verb} {noun} {excerpt(question.id)}; it scores 0."
            findings.warn(f"missing_{noun}", message, None, excerpt(question.text))
    return joined


def check_match(
    rows: Sequence[JoinRow], index: QuestionIndex, joined: Mapping[int, JoinRow], findings: Findings
) -> None:
    """Report a file of which no row was joined."""
    if joined:
        return
    noun = index.words.noun
    if not rows:
        message = f"The file has a header and no rows, so no {noun} of the benchmark is {index.words.done}."
        findings.problem("no_match", message)
        return
    message = f"No row matches a {noun} of the benchmark. Is it the right benchmark, and are its {noun}s unchanged?"
    if index.questions:
        first = index.questions[0]
        message += f" Its first {noun} is {excerpt(first.id)}: “{excerpt(first.text)}”."
    findings.problem("no_match", message, rows[0].row, rows[0].shown)


def find_swallowed_rows(
    kind: str,
    header: Sequence[str],
    rows: Iterable[JoinRow],
    missing: Sequence[Question],
    findings: Findings,
    words: Words = QUESTION,
) -> None:
    """Report quoted fields that hold whole rows of other questions.

    Two missing quotes can leave a file that is well-formed, with the rows between them inside one field. Such a field
    has a line that is a row of a question that no other row answers.
    """
    if kind not in DELIMITERS or not missing:
        return
    names = [name.strip().casefold() for name in header]
    texts = {question.text for question in missing}
    keys = {"id": {question.id for question in missing}} | dict.fromkeys(words.columns, texts)
    places = [(names.index(name), values) for name, values in keys.items() if name in names]
    for row in rows:
        for text in row.texts:
            if "\n" in text or "\r" in text:
                pieces = [line.split(DELIMITERS[kind]) for line in _LINE_END.split(text)[1:]]
                inside = [parts for parts in pieces if len(parts) == len(header) or parts is pieces[-1]]
                if any(at < len(parts) and parts[at] in values for parts in inside for at, values in places):
                    message = f"A quoted field here holds rows of other {words.noun}s: a double quote is missing."
                    findings.problem("quoting", message, row.row, row.shown)
                    break
