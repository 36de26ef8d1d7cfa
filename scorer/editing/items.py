"""All that is known of one passage in one entry of the editing track; what the track's metrics read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.editing import MOST_SENTENCES, Revision
from core.errors import InvalidInput
from core.records import Judgment, Pair, Passage, Question
from core.sentences import split
from core.text import pair_key
from scorer.editing.sentences import statement
from submissions.editing.labels import EditLabels, RevisionLabel

ABSENT = "absent_revision"
NO_REPORT = "empty_report"


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: the highest p that any snippet gives it (0 without any), and that snippet's place from 0."""

    text: str
    p: float
    snippet: int | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Version:
    """A text as it is rated: its sentences judged against the report, and what people said of it beside it."""

    sentences: tuple[Sentence, ...]
    label: RevisionLabel | None = None


@dataclass(frozen=True, slots=True)
class EditItem:
    """`after` is the revised text, `before` the original with the same report."""

    question: Question
    revision: Revision | None
    after: Version
    before: Version

    @property
    def reason(self) -> str | None:
        """Why nothing can be attributable, or None where there is something to judge."""
        if self.revision is None or not self.revision.text.strip():
            return ABSENT
        return None if self.evidence else NO_REPORT

    @property
    def evidence(self) -> bool:
        """True if a snippet has text."""
        return self.revision is not None and any(snippet.text.strip() for snippet in self.revision.report)

    @property
    def unchanged(self) -> bool:
        """True if the revision is the original, blanks at the ends aside."""
        return self.revision is not None and self.revision.text.strip() == self.question.text.strip()


@dataclass(frozen=True)
class Prepared:
    """The pairs to judge: per position and text (0 revised, 1 original), per sentence, per snippet with its place."""

    form: str
    sentences: Mapping[tuple[int, int], tuple[str, ...]]
    pairs: Mapping[bytes, Pair]

    @property
    def passages(self) -> dict[str, Passage]:
        """None: the evidence stands in the reports."""
        return {}


def prepare(questions: Sequence[Question], revisions: Sequence[Revision], form: str) -> Prepared:
    """Split the texts of an entry, and pair each sentence with each snippet of its report that has text.

    Raises `InvalidInput` for a text of more than `MOST_SENTENCES` sentences, before anything is paired for it.
    """
    sentences: dict[tuple[int, int], tuple[str, ...]] = {}
    pairs: dict[bytes, Pair] = {}
    for revision in revisions:
        question = questions[revision.position]
        for at, text in enumerate((revision.text, question.text)):
            same = at == 1 and text == revision.text
            found = sentences[revision.position, 0] if same else split(text)
            _check_length(found, question)
            sentences[revision.position, at] = found
            for sentence in found:
                hypothesis = statement(form, question.context, sentence)
                for snippet in revision.report:
                    if snippet.text.strip():
                        pairs.setdefault(pair_key(snippet.text, hypothesis), Pair(snippet.text, hypothesis))
    return Prepared(form, sentences, pairs)


def _check_length(sentences: Sequence[str], question: Question) -> None:
    if len(sentences) > MOST_SENTENCES:
        raise InvalidInput(
            f"A text of passage {question.id!r} has {len(sentences):,} sentences; at most {MOST_SENTENCES} are judged.",
            "Shorten or part it, and submit again.",
        )


def items_of(
    questions: Sequence[Question],
    revisions: Sequence[Revision],
    prepared: Prepared,
    judgments: Mapping[bytes, Judgment],
    labels: EditLabels,
) -> list[EditItem]:
    """One item per passage of the benchmark, in its order."""
    by_position = {revision.position: revision for revision in revisions}
    return [_item(question, by_position.get(question.position), prepared, judgments, labels) for question in questions]


def _item(
    question: Question,
    revision: Revision | None,
    prepared: Prepared,
    judgments: Mapping[bytes, Judgment],
    labels: EditLabels,
) -> EditItem:
    if revision is None:
        return EditItem(question, None, Version(()), Version(()))
    texts = [
        tuple(
            _sentence(sentence, statement(prepared.form, question.context, sentence), revision, judgments)
            for sentence in prepared.sentences[revision.position, at]
        )
        for at in (0, 1)
    ]
    return EditItem(
        question,
        revision,
        Version(texts[0], labels.after.get(question.position)),
        Version(texts[1], labels.before.get(question.position)),
    )


def _sentence(sentence: str, hypothesis: str, revision: Revision, judgments: Mapping[bytes, Judgment]) -> Sentence:
    judged = [
        (judgment, place)
        for place, snippet in enumerate(revision.report)
        if snippet.text.strip() and (judgment := judgments.get(pair_key(snippet.text, hypothesis))) is not None
    ]
    if not judged:
        return Sentence(sentence, 0.0)
    best, place = max(judged, key=lambda pair: (pair[0].p, -pair[1]))
    return Sentence(sentence, best.p, place, best.flags)
