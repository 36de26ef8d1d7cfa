"""What applying a file of ratings would change, worked out without writing anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.benchmark import Benchmark
from core.records import Report
from core.tables import RatingBatch
from submissions.labels import Vote, majority, near_majority, newest_near_votes, newest_votes, raters_left_out
from submissions.ratings.editing_file import EditRating
from submissions.ratings.read import Rating, RatingFile
from submissions.ratings.touched import Key, Labelled, held_triples, labelled, moved


@dataclass(frozen=True, slots=True)
class Conflict:
    """A row that says another thing than the same rater's earlier word, which it would replace."""

    row: int
    question: str
    answer: str
    passage_id: str
    rater: str
    earlier: bool
    now: bool
    batch_id: int


@dataclass(frozen=True)
class Preview:
    """What a file holds and what applying it would do. All counts are 0 where the report refuses the file.

    `new`, `repeats` and `conflicts` part the file's ratings: no earlier word of that rater on that triple, the same
    word, another word. `unheld` triples are in no submission. `verdicts_changed` counts triples that were labelled
    before and whose majority turns. `unknown_ids` are rows with ids that the benchmark or its corpus does not know.
    """

    benchmark_id: str
    kind: str
    qualification: bool
    digest: str
    report: Report
    ratings: int = 0
    triples: int = 0
    raters: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """Raters in the file whose ratings a maintainer leaves out."""
    new: int = 0
    repeats: int = 0
    conflicts: tuple[Conflict, ...] = ()
    unheld: tuple[Rating | EditRating, ...] = ()
    unknown_ids: int = 0
    new_labels: int = 0
    verdicts_changed: int = 0
    submissions: tuple[str, ...] = ()
    """The submissions that would be evaluated again."""
    applied_as: int | None = None
    """The batch that this very file was applied as before, and that still counts."""

    @property
    def accepted(self) -> bool:
        """True if the file can be applied."""
        return self.report.accepted and self.applied_as is None


def preview(session: Session, benchmark: Benchmark, file: RatingFile, synthetic: bool = False) -> Preview:
    """Compare a file with what the database holds."""
    unknown = file.report.counts.get("unknown_question", 0) + file.report.counts.get("unknown_attribution", 0)
    applied_as = applied_before(session, benchmark.id, file.digest)
    if not file.report.accepted:
        return Preview(
            benchmark.id, file.kind, file.qualification, file.digest, file.report,
            unknown_ids=unknown, applied_as=applied_as,
        )  # fmt: skip
    keys = keys_of(file.ratings)
    triples = [key.triple for key in keys]
    earlier = {(vote.triple, vote.rater): vote for vote in newest_votes(session, benchmark.id, triples)}
    before = labelled(session, benchmark.id, keys)
    left_out = set(session.scalars(raters_left_out(benchmark.id)))
    counted = [] if file.qualification else [rating for rating in file.ratings if rating.rater not in left_out]
    after = _after(session, benchmark, keys, _votes(counted, synthetic))
    held = {key.triple for _, key in held_triples(session, benchmark.id, keys)}
    raters = {rating.rater for rating in file.ratings if rating.rater}
    words = [earlier.get((rating.triple, rating.rater)) for rating in file.ratings]
    return Preview(
        benchmark.id, file.kind, file.qualification, file.digest, file.report,
        ratings=len(file.ratings),
        triples=len(keys),
        raters=tuple(sorted(raters)),
        left_out=tuple(sorted(raters & left_out)),
        new=words.count(None),
        repeats=sum(w is not None and w.positive == r.positive for w, r in zip(words, file.ratings, strict=True)),
        conflicts=_conflicts(benchmark, file.ratings, words),
        unheld=tuple(rating for rating in _first_of_triples(file.ratings) if rating.triple not in held),
        unknown_ids=unknown,
        new_labels=len(after.exact.keys() - before.exact.keys()),
        verdicts_changed=sum(
            label.attributable != after.exact[triple].attributable for triple, label in before.exact.items()
        ),
        submissions=tuple(sorted(moved(session, benchmark.id, keys, before, after))),
        applied_as=applied_as,
    )  # fmt: skip


def keys_of(ratings: Sequence[Rating]) -> list[Key]:
    """The different triples of some ratings."""
    return list(dict.fromkeys(Key(rating.position, rating.triple, rating.near) for rating in ratings))


def applied_before(session: Session, benchmark_id: str, digest: str) -> int | None:
    """The batch with this digest that still counts, if there is one."""
    return session.scalar(
        select(RatingBatch.id).where(
            RatingBatch.benchmark_id == benchmark_id,
            RatingBatch.file_digest == digest,
            RatingBatch.revoked_at.is_(None),
        )
    )


def _after(
    session: Session, benchmark: Benchmark, keys: Sequence[Key], added: dict[tuple[bytes, str], Vote]
) -> Labelled:
    """The labels there would be with the added votes, which replace the same raters' earlier ones."""
    near = newest_near_votes(session, benchmark.id, (key.near for key in keys))
    votes = list(({(vote.triple, vote.rater): vote for vote in near} | added).values())
    triples = {key.triple for key in keys}
    exact = {t: label for t, label in majority(votes, benchmark.raters_per_item).items() if t in triples}
    return Labelled(exact, near_majority(votes, benchmark.raters_per_item))


def _votes(ratings: Sequence[Rating], synthetic: bool) -> dict[tuple[bytes, str], Vote]:
    return {
        (r.triple, r.rater): Vote(
            r.triple, r.near, r.rater, r.positive, r.position, r.answer, r.passage_id, synthetic, 0
        )
        for r in ratings
    }


def _conflicts(benchmark: Benchmark, ratings: Sequence[Rating], words: Sequence[Vote | None]) -> tuple[Conflict, ...]:
    return tuple(
        Conflict(
            r.row, benchmark.questions[r.position].text, r.answer, r.passage_id, r.rater,
            word.positive, r.positive, word.batch_id,
        )
        for r, word in zip(ratings, words, strict=True)
        if word is not None and word.positive != r.positive
    )  # fmt: skip


def _first_of_triples(ratings: Sequence[Rating]) -> list[Rating]:
    return list({rating.triple: rating for rating in reversed(ratings)}.values())[::-1]
