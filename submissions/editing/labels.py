"""What people said of revisions: the strict majority of the newest word of each rater on each question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.benchmark import Benchmark
from core.editing import Revision, Snippet
from core.majority import strict_majority
from core.sentences import splitter
from core.tables import EditRatingRow, RatingBatch
from core.text import counted, hash_key, revision_key
from submissions.labels import batch_counts, raters_left_out, raters_per_item

INTENT = 0
"""The number that stands for the whole text's intent where sentences count from 1."""
_LOOKUP = 500


@dataclass(frozen=True, slots=True)
class Verdict:
    """Votes on one question; a tie is no. `complete` is False while raters are missing."""

    positive: int
    raters: int
    complete: bool = True
    synthetic: bool = False

    @property
    def yes(self) -> bool:
        """The strict majority's word."""
        return strict_majority(self.positive, self.raters)


@dataclass(frozen=True, slots=True)
class RevisionLabel:
    """Verdicts on a text beside its report: by sentence, from 1, and on whether its intent is preserved.

    `left_out` counts labels of sentences that another splitter numbered, by that splitter.
    """

    sentences: Mapping[int, Verdict] = field(default_factory=dict)
    intent: Verdict | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class EditLabels:
    """Labels by position, of the revised texts and of the originals with the same reports."""

    after: Mapping[int, RevisionLabel]
    before: Mapping[int, RevisionLabel]

    @property
    def digest(self) -> str:
        """The hash that stands in signatures."""
        parts = [_spelled("", at, label) for at, label in sorted(self.after.items())]
        parts += [_spelled("<", at, label) for at, label in sorted(self.before.items())]
        return hash_key(*parts, size=6).hex() if parts else "none"


NO_LABELS = EditLabels({}, {})


class EditVote(NamedTuple):
    """The newest word of one rater on one sentence (or the intent) of one revision."""

    revision: bytes
    sentence: int
    rater: str
    positive: bool
    position: int
    synthetic: bool
    batch_id: int
    elsewhere: str = ""
    """The other splitter that numbered the sentence, as of `elsewhere`; the vote then counts for no sentence here."""


def elsewhere(sentence: int, numbered_by: str | None) -> str:
    """The splitter that gave a sentence its number, where it is not the present one; "" where the number holds.

    An intent has no number to go wrong; a batch of intents alone has no splitter.
    """
    return "" if sentence == INTENT or numbered_by is None or numbered_by == splitter() else numbered_by


def left_out_in_words(left_out: Mapping[str, int]) -> list[str]:
    """One statement per other splitter whose labels do not count."""
    return [
        f"{counted(n, 'label')} {'was' if n == 1 else 'were'} given under another sentence splitter ({name}) and "
        f"{'is' if n == 1 else 'are'} left out."
        for name, n in sorted(left_out.items())
    ]


def key_of(position: int, text: str, report: Iterable[Snippet]) -> bytes:
    """The key of a text beside a report."""
    return revision_key(position, text, ((snippet.text, snippet.source) for snippet in report))


def edit_labels_for(session: Session, benchmark: Benchmark, revisions: Sequence[Revision]) -> EditLabels:
    """The labels that apply to an entry."""
    after = {key_of(r.position, r.text, r.report): r.position for r in revisions}
    before = {key_of(r.position, benchmark.questions[r.position].text, r.report): r.position for r in revisions}
    found = edit_labels_of(session, benchmark.id, {*after, *before})
    return EditLabels(
        {after[key]: label for key, label in found.items() if key in after},
        {before[key]: label for key, label in found.items() if key in before},
    )


def edit_labels_of(
    session: Session, benchmark_id: str, keys: Iterable[bytes] | None = None
) -> dict[bytes, RevisionLabel]:
    """The labels of the given revisions, or of all that were ever rated."""
    return verdicts(newest_edit_votes(session, benchmark_id, keys), raters_per_item(session, benchmark_id))


def newest_edit_votes(session: Session, benchmark_id: str, keys: Iterable[bytes] | None = None) -> list[EditVote]:
    """The votes that count, of the given revisions or of all; as `submissions.labels.newest_votes`."""
    if keys is None:
        return list(_newest(session, benchmark_id, None))
    wanted = list(dict.fromkeys(keys))
    parts = (wanted[start : start + _LOOKUP] for start in range(0, len(wanted), _LOOKUP))
    return [vote for part in parts for vote in _newest(session, benchmark_id, part)]


def verdicts(votes: Iterable[EditVote], raters: int) -> dict[bytes, RevisionLabel]:
    """One label per revision; `raters` is how many the benchmark asks for."""
    by_question: dict[bytes, dict[tuple[str, int], list[EditVote]]] = {}
    for vote in votes:
        by_question.setdefault(vote.revision, {}).setdefault((vote.elsewhere, vote.sentence), []).append(vote)
    return {revision: _label(given, raters) for revision, given in by_question.items()}


def _newest(session: Session, benchmark_id: str, keys: Sequence[bytes] | None) -> Iterator[EditVote]:
    query = (
        select(
            EditRatingRow.revision, EditRatingRow.sentence, EditRatingRow.rater, EditRatingRow.positive,
            EditRatingRow.position, RatingBatch.synthetic, EditRatingRow.batch_id, RatingBatch.splitter,
        )
        .join(RatingBatch, RatingBatch.id == EditRatingRow.batch_id)
        .where(
            EditRatingRow.benchmark_id == benchmark_id,
            *batch_counts(),
            EditRatingRow.rater.not_in(raters_left_out(benchmark_id)),
        )
        .order_by(RatingBatch.applied_at, EditRatingRow.batch_id, EditRatingRow.row)
    )  # fmt: skip
    if keys is not None:
        query = query.where(EditRatingRow.revision.in_(keys))
    newest = {}
    for row in session.execute(query):
        vote = EditVote(*row[:-1], elsewhere(row.sentence, row.splitter))
        newest[vote.revision, vote.sentence, vote.rater, vote.elsewhere] = vote
    return iter(newest.values())


def _label(given: Mapping[tuple[str, int], Sequence[EditVote]], raters: int) -> RevisionLabel:
    found = {
        sentence: Verdict(
            sum(vote.positive for vote in votes), len(votes), len(votes) >= raters, any(v.synthetic for v in votes)
        )
        for (other, sentence), votes in sorted(given.items())
        if not other
    }
    left_out = Counter(other for other, _ in given if other)
    return RevisionLabel({at: each for at, each in found.items() if at != INTENT}, found.get(INTENT), left_out)


def _spelled(mark: str, position: int, label: RevisionLabel) -> str:
    told = [*label.sentences.items()] + ([(INTENT, label.intent)] if label.intent else [])
    words = [f"{at}={v.positive}/{v.raters}{':synthetic' * v.synthetic}" for at, v in told]
    # What is left out is told beside the number, so a score that was stored before it came must not be taken for it.
    words += [f"{n}@{name}" for name, n in sorted(label.left_out.items())]
    return f"{mark}{position}:{','.join(words)}"
