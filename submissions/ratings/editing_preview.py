"""What applying a file of editing labels would change, worked out without writing anything."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from core.benchmark import Benchmark
from core.records import Report
from submissions.editing.labels import EditVote, RevisionLabel, Verdict, elsewhere, newest_edit_votes, verdicts
from submissions.labels import raters_left_out
from submissions.ratings.editing_file import EditRating, EditRatingFile
from submissions.ratings.editing_touched import EditKey, edit_labelled, edit_moved, held_texts
from submissions.ratings.preview import Conflict, Preview, applied_before

Questions = dict[tuple[bytes, int], Verdict]


def preview(session: Session, benchmark: Benchmark, file: EditRatingFile, synthetic: bool = False) -> Preview:
    """Compare a file with what the database holds; a *triple* of the preview is one question asked of a revision."""
    unknown = _unknown(file.report)
    applied_as = applied_before(session, benchmark.id, file.digest)
    if not file.report.accepted:
        return Preview(
            benchmark.id, file.kind, False, file.digest, file.report, unknown_ids=unknown, applied_as=applied_as
        )  # fmt: skip
    keys = keys_of(file.ratings)
    earlier = newest_edit_votes(session, benchmark.id, (key.revision for key in keys))
    by_rater = {_who(vote): vote for vote in earlier}
    left_out = set(session.scalars(raters_left_out(benchmark.id)))
    given = [_vote(rating, file.splitter, synthetic) for rating in file.ratings]
    counted = {_who(vote): vote for vote in given if vote.rater not in left_out}
    before = edit_labelled(session, benchmark.id, keys)
    after = verdicts((by_rater | counted).values(), benchmark.raters_per_item)
    asked, then = _questions(before), _questions(after)
    held = {text.revision for text in held_texts(session, benchmark.id, sorted({key.position for key in keys}))}
    words = [by_rater.get(_who(vote)) for vote in given]
    raters = {rating.rater for rating in file.ratings}
    return Preview(
        benchmark.id, file.kind, False, file.digest, file.report,
        ratings=len(file.ratings),
        triples=len({(rating.revision, rating.sentence) for rating in file.ratings}),
        raters=tuple(sorted(raters)),
        left_out=tuple(sorted(raters & left_out)),
        new=words.count(None),
        repeats=sum(w is not None and w.positive == r.positive for w, r in zip(words, file.ratings, strict=True)),
        conflicts=tuple(
            Conflict(
                rating.row, benchmark.questions[rating.position].text, rating.answer, "", rating.rater, word.positive,
                rating.positive, word.batch_id,
            )
            for rating, word in zip(file.ratings, words, strict=True)
            if word is not None and word.positive != rating.positive
        ),
        unheld=tuple(r for r in _first(file.ratings) if r.revision not in held),
        unknown_ids=unknown,
        new_labels=len(then.keys() - asked.keys()),
        verdicts_changed=sum(verdict.yes != then[key].yes for key, verdict in asked.items()),
        submissions=tuple(sorted(edit_moved(session, benchmark.id, keys, before, after))),
        applied_as=applied_as,
    )  # fmt: skip


def keys_of(ratings: Sequence[EditRating]) -> list[EditKey]:
    """The different revisions of some ratings."""
    return list(dict.fromkeys(EditKey(rating.position, rating.revision) for rating in ratings))


def _unknown(report: Report) -> int:
    return report.counts.get("unknown_passage", 0) + report.counts.get("unknown_revision", 0)


def _who(vote: EditVote) -> tuple[bytes, int, str, str]:
    return vote.revision, vote.sentence, vote.rater, vote.elsewhere


def _vote(r: EditRating, splitter: str | None, synthetic: bool) -> EditVote:
    other = elsewhere(r.sentence, splitter)
    return EditVote(r.revision, r.sentence, r.rater, r.positive, r.position, synthetic, 0, other)


def _questions(labels: dict[bytes, RevisionLabel]) -> Questions:
    found = {(key, at): verdict for key, label in labels.items() for at, verdict in label.sentences.items()}
    return found | {(key, 0): label.intent for key, label in labels.items() if label.intent}


def _first(ratings: Sequence[EditRating]) -> list[EditRating]:
    return list({rating.revision: rating for rating in reversed(ratings)}.values())[::-1]
