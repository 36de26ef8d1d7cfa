"""From rows to what is stored: each system's predictions, the human labels, and AutoAIS's judgments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from core import templates
from core.benchmark import Benchmark
from core.corpus import Corpus
from core.majority import strict_majority
from core.passage_text import parse_passage
from core.records import Judgment, Passage, Question
from core.text import near_key, pair_key, triple_key
from submissions.formats import Findings, QuestionIndex, RawRow, excerpt
from submissions.ratings.read import Rating
from submissions.released.rows import ReleasedRow

OTHER_TEXT = "released_on_other_text"
NO_SCORE = "no_released_score"
DECISION_ONLY = "released_decision_only"
_BATCH = 2_000


@dataclass
class Gathered:
    """What the release amounts to. `predictions`: system → question position → (answer, attribution)."""

    predictions: dict[str, dict[int, tuple[str, str]]] = field(default_factory=dict)
    judgments: dict[bytes, Judgment] = field(default_factory=dict)
    votes: dict[bytes, list[Rating]] = field(default_factory=dict)

    def labels(self, findings: Findings) -> list[Rating]:
        """One pre-aggregated label per triple; where systems' rows differ, the strict majority of them."""
        labels = []
        for ratings in self.votes.values():
            positive = sum(rating.positive for rating in ratings)
            first = ratings[0]
            if 0 < positive < len(ratings):
                message = f"{positive} of {len(ratings)} rows with this triple are rated Y; the majority is kept."
                findings.warn("rating_differs", message, first.row, excerpt(first.answer))
            labels.append(_merged(first, positive, len(ratings)))
        return labels


def gather(benchmark: Benchmark, corpus: Corpus, rows: Iterable[ReleasedRow], findings: Findings) -> Gathered:
    """Join rows to the benchmark's questions and corpus, a batch at a time."""
    found = Gathered()
    index = QuestionIndex(benchmark.questions)
    for some in _batches(rows):
        resolved = corpus.resolve([row.attribution for row in some if row.attribution])
        passages = corpus.passages(identifier for identifier in resolved.values() if identifier is not None)
        for row in some:
            _take(row, index, resolved.get(row.attribution), passages, found, findings)
    return found


def _take(
    row: ReleasedRow,
    index: QuestionIndex,
    passage_id: str | None,
    passages: dict[str, Passage],
    found: Gathered,
    findings: Findings,
) -> None:
    match = index.match(RawRow(row.row, row.question, "", ""))
    if match.question is None:
        findings.warn("unknown_question", match.reason, row.row, excerpt(row.question))
        return
    position = match.question.position
    answers = found.predictions.setdefault(row.system, {})
    if position in answers:
        message = f"{row.system} answers this question twice; the first answer is kept."
        findings.warn("duplicate_question", message, row.row, excerpt(row.question))
        return
    answers[position] = (row.answer, row.attribution)
    findings.counts["matched"] += 1
    if not row.answer.strip():
        findings.warn("empty_answer", "There is no answer.", row.row, excerpt(row.question))
    elif not row.attribution:
        findings.warn("empty_attribution", "There is no attribution.", row.row, excerpt(row.question))
    elif passage_id is None:
        message = "The benchmark's corpus has no passage with this id."
        findings.warn("unknown_attribution", message, row.row, excerpt(row.attribution))
    else:
        if row.human is not None:
            rating = _rating(row, position, passage_id, row.human)
            found.votes.setdefault(rating.triple, []).append(rating)
        _judge(row, match.question, passages[passage_id], found, findings)


def _judge(row: ReleasedRow, question: Question, passage: Passage, found: Gathered, findings: Findings) -> None:
    """Keep the released judgment under the pair that this benchmark's corpus gives."""
    flags = _text_flags(row, passage, findings)
    p = row.p
    if p is None and row.decision is not None:
        p, flags = float(row.decision), (*flags, DECISION_ONLY)
        findings.warn("decision_only", "There is no score, only the decision; it stands as 0 or 1.", row.row)
    elif p is None:
        p, flags = 0.0, (*flags, NO_SCORE)
        message = "There is neither score nor decision; it counts as not attributable."
        findings.warn("no_score", message, row.row, excerpt(row.question))
    elif row.decision is not None and row.decision != (p >= 0.5):
        message = f"auto_ais is {'Y' if row.decision else 'N'} at a score of {p}; the score decides."
        findings.warn("decision_differs", message, row.row, excerpt(row.question))
    key = pair_key(templates.premise(passage), templates.hypothesis(question.text, row.answer))
    first = found.judgments.setdefault(key, Judgment(p, "1" if p >= 0.5 else "0", flags))
    if abs(first.p - p) > 1e-6:
        message = f"The same question, answer and passage had the score {first.p} before; the first one is kept."
        findings.warn("score_differs", message, row.row, excerpt(row.question))


def _text_flags(row: ReleasedRow, passage: Passage, findings: Findings) -> tuple[str, ...]:
    released = parse_passage(row.passage)
    if _same(released, passage):
        return ()
    if _same(parse_passage(row.passage.replace('""', '"')), passage):
        message = "Quotes are doubled in the passage; the corpus has them once."
        findings.warn("doubled_quotes", message, row.row, excerpt(row.attribution))
        return ()
    message = "The passage is not that of the corpus; the judgment is kept and marked."
    findings.warn("passage_differs", message, row.row, excerpt(row.attribution))
    return (OTHER_TEXT,)


def _same(one: Passage, other: Passage) -> bool:
    return templates.premise(one) == templates.premise(other)


def _rating(row: ReleasedRow, position: int, passage_id: str, positive: bool) -> Rating:
    triple = triple_key(position, row.answer, passage_id)
    near = near_key(position, row.answer, passage_id)
    return Rating(row.row, position, row.answer, passage_id, triple, near, "", None, None, positive, system=row.system)


def _merged(first: Rating, yes: int, rows: int) -> Rating:
    """The strict majority of all rows with the first one's triple."""
    if rows == 1:
        return first
    return replace(first, positive=strict_majority(yes, rows), system="", note=f"{yes} of {rows} rows of the release")


def _batches(rows: Iterable[ReleasedRow]) -> Iterator[Sequence[ReleasedRow]]:
    left = iter(rows)
    while some := list(islice(left, _BATCH)):
        yield some
