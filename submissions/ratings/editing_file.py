"""A file of human labels of revisions: read, joined to the passages and the revisions held, with a complete report."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.editing import LONGEST_TEXT, MOST_SENTENCES, sentence_ends
from core.records import Question, Report
from core.sentences import split, splitter
from core.text import canonical_question
from submissions.editing.entries import PASSAGE
from submissions.editing.labels import INTENT, key_of
from submissions.editing.report_cells import Reports
from submissions.formats import Findings, Limits, QuestionIndex, RawRow, TableRow, excerpt, read_table
from submissions.formats.table import begin
from submissions.ratings.editing_columns import COLUMNS, SPLITTER, check_header, filled_in, word_of

KIND = "editing"
_SPLITTER = re.compile(r"[A-Za-z0-9._+-]{1,80}")
COUNTS = (
    "rows",
    "matched",
    "unknown_passage",
    "unknown_revision",
    "bad_sentence",
    "bad_splitter",
    "other_splitter",
    "bad_answer",
    "no_rater",
    "rated_twice",
    "not_filled_in",
)


@dataclass(frozen=True, slots=True)
class EditRating:
    """One row of a batch: a rater's word on a sentence of a revision, or on its intent (`sentence` 0)."""

    row: int
    position: int
    revision: bytes
    sentence: int
    rater: str
    positive: bool
    note: str = ""
    said_of: str = ""
    """The sentence, or the revised text."""

    @property
    def answer(self) -> str:
        """What was rated, for people."""
        return f"intent: {self.said_of}" if self.sentence == INTENT else f"sentence {self.sentence}: {self.said_of}"

    @property
    def passage_id(self) -> str:
        """None: the evidence is part of the revision."""
        return ""


@dataclass(frozen=True)
class EditRatingFile:
    """What a file amounts to; `ratings` is empty if the report is not accepted. `digest` is the bytes' sha256."""

    digest: str
    ratings: list[EditRating]
    report: Report
    kind: str = KIND
    qualification: bool = False
    splitter: str | None = None
    """What numbered the sentences that it rates; None where it rates none."""


@dataclass(frozen=True)
class EditGround:
    """What ratings are joined to; `held` gives the texts that submissions hold of some positions, by these and key."""

    questions: Sequence[Question]
    held: Callable[[Sequence[int]], Mapping[tuple[int, bytes], str]]
    pseudonym: Callable[[str], str]
    limits: Limits
    skip_unknown: bool = False


def read_edit_ratings(data: bytes, name: str, ground: EditGround) -> EditRatingFile:
    """Read labels of revisions; never raises for a bad file, and takes it whole or not at all.

    A row names its passage by `id` and its revision by `key`, or by `revised` and `report`. Rows that no rater filled
    in are left out and counted; unknown passages and revisions refuse the file, or with `skip_unknown` are left out.
    """
    table = read_table(io.BytesIO(data), name, ground.limits, COLUMNS, nested=("report",))
    digest = hashlib.sha256(data).hexdigest()
    findings, refused = begin(table, COUNTS)
    if refused:
        return EditRatingFile(digest, [], refused)
    check_header(table.header, findings)
    reader = _Reader(ground, findings)
    ratings = [] if findings.refused else _once(reader.read(table.rows), findings)
    if not ratings and not findings.refused:
        findings.problem("no_match", "The file holds no rating that can be taken.")
    findings.counts["matched"] = len(ratings)
    report = findings.report()
    return EditRatingFile(digest, ratings if report.accepted else [], report, splitter=reader.splitter)


class _Reader:
    def __init__(self, ground: EditGround, findings: Findings) -> None:
        self._ground, self._findings = ground, findings
        self._index = QuestionIndex(ground.questions, PASSAGE)
        self._reports = Reports(ground.limits, findings)
        self._held: Mapping[tuple[int, bytes], str] = {}
        self._parted: dict[str, Sequence[str]] = {}
        self.splitter: str | None = None

    def read(self, rows: Sequence[TableRow]) -> list[EditRating]:
        found = [(row, cells, self._question(row.row, cells)) for row in rows if (cells := self._cells(row))]
        keyed = {question.position for _, cells, question in found if question and cells.get("key", "").strip()}
        self._held = self._ground.held(sorted(keyed)) if keyed else {}
        ratings = [self._rating(row, cells, question) for row, cells, question in found if question]
        return [rating for rating in ratings if rating is not None]

    def _cells(self, row: TableRow) -> dict[str, str]:
        """The row's texts; none for a row that is blank or that no rater filled in."""
        cells = {name: text or "" for name, text in row.cells.items()}
        if any(text.strip() for text in cells.values()) and not filled_in(cells):
            message = "No rater has filled in this row; it was left out."
            self._findings.warn("not_filled_in", message, row.row, excerpt(cells.get("id", "")))
        return cells if filled_in(cells) else {}

    def _question(self, row: int, cells: Mapping[str, str]) -> Question | None:
        match = self._index.match(RawRow(row, "", "", "", cells.get("id", "")))
        if match.question is None:
            self._unknown("unknown_passage", match.reason, row, cells.get("id", ""))
        return match.question

    def _rating(self, row: TableRow, cells: Mapping[str, str], question: Question) -> EditRating | None:
        word = word_of(row.row, cells, self._findings)
        named = self._revision(row, cells, question)
        rater = cells.get("rater", "").strip()
        if not rater:
            self._findings.problem("no_rater", "The rater is not named.", row.row, excerpt(cells.get("id", "")))
        if word is None or named is None or not rater:
            return None
        revision, text = named
        said_of = text if word.sentence == INTENT else self._sentence(row.row, cells, text, word.sentence)
        if said_of is None:
            return None
        if not self._same(cells.get("sentence_text", ""), said_of):
            message = "“sentence_text” is not what stands there. Were columns sorted apart?"
            self._findings.problem("bad_sentence", message, row.row, excerpt(cells["sentence_text"]))
            return None
        pseudonym = self._ground.pseudonym(rater)
        note = cells.get("note", "")
        return EditRating(
            row.row, question.position, revision, word.sentence, pseudonym, word.positive, note, said_of
        )  # fmt: skip

    def _sentence(self, row: int, cells: Mapping[str, str], text: str, number: int) -> str | None:
        """The sentence with that number, as the sheet has it where another splitter numbered it."""
        named = cells.get(SPLITTER, "").strip() or splitter()
        if not self._one_splitter(row, named):
            return None
        if named != splitter():
            message = (
                f"Another sentence splitter ({named}) than the present one ({splitter()}) numbered this sentence; the "
                "label is kept, but does not count."
            )
            self._findings.warn("other_splitter", message, row, excerpt(cells.get("sentence_text", "")))
            return cells.get("sentence_text", "").removeprefix("'") or text
        sentences = self._sentences(text)
        if number > len(sentences):
            message = f"The text has {len(sentences)} sentences; there is none with the number {number}."
            self._findings.problem("bad_sentence", message, row, excerpt(text))
            return None
        return sentences[number - 1]

    def _one_splitter(self, row: int, named: str) -> bool:
        """True if all sentences up to here were numbered by the same one; a batch keeps a single one."""
        if not _SPLITTER.fullmatch(named):
            message = "“splitter” is no name of a sentence splitter. Leave it as the sheet has it, or leave it out."
            self._findings.problem("bad_splitter", message, row, excerpt(named))
            return False
        self.splitter = self.splitter or named
        if named != self.splitter:
            message = f"{named} numbered this sentence, {self.splitter} those above. Send them as two files."
            self._findings.problem("bad_splitter", message, row, excerpt(named))
            return False
        return True

    def _revision(self, row: TableRow, cells: Mapping[str, str], question: Question) -> tuple[bytes, str] | None:
        named = cells.get("key", "").strip()
        if not named:
            revised = cells.get("revised", "")
            if not revised.strip():
                self._unknown("unknown_revision", "There is no key and no revised text.", row.row, "")
                return None
            if len(revised) > LONGEST_TEXT:
                message = f"The revised text has more than {LONGEST_TEXT:,} characters."
                self._findings.problem("overlong_field", message, row.row, excerpt(revised))
                return None
            if sentence_ends(revised) > MOST_SENTENCES:
                message = f"The revised text has more than {MOST_SENTENCES} ends of sentences."
                self._findings.problem("too_many_sentences", message, row.row, excerpt(revised))
                return None
            return key_of(question.position, revised, self._reports.read(row.row, row.cells)), revised
        key = bytes.fromhex(named) if len(named) == 32 and not set(named.lower()) - set("0123456789abcdef") else b""
        text = self._held.get((question.position, key))
        if text is None:
            message = "No submission holds a revision with this key of this passage."
            self._unknown("unknown_revision", message, row.row, named)
            return None
        return key, text

    def _sentences(self, text: str) -> Sequence[str]:
        if text not in self._parted:
            self._parted[text] = split(text)
        return self._parted[text]

    def _unknown(self, kind: str, message: str, row: int, shown: str) -> None:
        report = self._findings.warn if self._ground.skip_unknown else self._findings.problem
        report(kind, message, row, excerpt(shown))

    @staticmethod
    def _same(given: str, text: str) -> bool:
        """A spreadsheet's apostrophe aside, and where it is given at all."""
        return not given.strip() or canonical_question(text) in {
            canonical_question(given), canonical_question(given.removeprefix("'")),
        }  # fmt: skip


def _once(ratings: Sequence[EditRating], findings: Findings) -> list[EditRating]:
    """A rater's only word on each question: a second one refuses the file."""
    first: dict[tuple[bytes, int, str], EditRating] = {}
    for rating in ratings:
        earlier = first.setdefault((rating.revision, rating.sentence, rating.rater), rating)
        if earlier is not rating:
            message = f"{rating.rater} rated this in row {earlier.row} already. Keep one of the two rows."
            findings.problem("rated_twice", message, rating.row, excerpt(rating.said_of))
    return list(first.values())
