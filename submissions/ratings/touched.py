"""The re-evaluation trigger: a job for exactly those submissions whose labels a change moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from core import states
from core.batches import batches
from core.queue import Queue
from core.records import Label
from core.tables import BenchmarkRow, PredictionRow, QuestionRow, RatingRow, Submission
from core.text import near_key, triple_key
from submissions import rescoring
from submissions.kinds import EVALUATE, EVALUATE_RELEASED, RESCORE, priority_of
from submissions.labels import labels_of, near_labels_of


class Key(NamedTuple):
    """A triple as labels find it: exactly, and by the spelling of its answer."""

    position: int
    triple: bytes
    near: bytes


def key_of(position: int, answer: str, passage_id: str) -> Key:
    """The keys of a triple."""
    return Key(position, triple_key(position, answer, passage_id), near_key(position, answer, passage_id))


def keys_in(session: Session, batch_id: int) -> list[Key]:
    """The different triples of a stored batch."""
    query = select(RatingRow.position, RatingRow.triple, RatingRow.near).where(RatingRow.batch_id == batch_id)
    return [Key(*row) for row in session.execute(query.distinct())]


@dataclass(frozen=True)
class Labelled:
    """The labels of some triples at one moment."""

    exact: Mapping[bytes, Label]
    near: Mapping[bytes, Label]


def labelled(session: Session, benchmark_id: str, keys: Sequence[Key]) -> Labelled:
    """The labels of the given triples as they stand."""
    return Labelled(
        labels_of(session, benchmark_id, (key.triple for key in keys)),
        near_labels_of(session, benchmark_id, (key.near for key in keys)),
    )


def moved(
    session: Session, benchmark_id: str, keys: Sequence[Key], before: Labelled, after: Labelled
) -> dict[str, set[bytes]]:
    """The submissions whose labels differ between two moments, each with its triples that do.

    A near label moves a submission only on a question to be rated, and where it has no label of its own.
    """
    exact = _changed(before.exact, after.exact)
    near = _changed(before.near, after.near)
    changed = [key for key in keys if key.triple in exact or key.near in near]
    held = list(held_triples(session, benchmark_id, changed))
    due = _rated(session, benchmark_id) if near else set()
    nearly = {k.triple for _, k in held if k.position in due and k.triple not in exact and k.near in near}
    nearly -= labels_of(session, benchmark_id, nearly).keys()
    found: dict[str, set[bytes]] = {}
    for submission, key in held:
        if key.triple in exact or key.triple in nearly:
            found.setdefault(submission, set()).add(key.triple)
    return found


def held_triples(session: Session, benchmark_id: str, keys: Iterable[Key]) -> Iterator[tuple[str, Key]]:
    """Each submission's triples that are one of the keys, exactly or nearly.

    Submissions that failed for good are left out; withdrawn ones are not, since they can be published again.
    """
    keys = list(keys)
    triples, nears = {key.triple for key in keys}, {key.near for key in keys}
    positions = sorted({key.position for key in keys})
    for some in batches(positions):
        query = (
            select(PredictionRow.submission_id, PredictionRow.position, PredictionRow.answer, PredictionRow.passage_id)
            .join(Submission, Submission.id == PredictionRow.submission_id)
            .where(
                Submission.benchmark_id == benchmark_id,
                Submission.state != states.FAILED,
                PredictionRow.position.in_(some),
                PredictionRow.passage_id.is_not(None),
            )
        )
        for submission, position, answer, passage in session.execute(query):
            if passage is not None and answer.strip():
                key = key_of(position, answer, passage)
                if key.triple in triples or key.near in nears:
                    yield submission, key


@dataclass(frozen=True)
class Moves:
    """How one track tells which submissions a change of ratings moves, from the keys of what was rated."""

    labelled: Callable[[Session, str, Sequence[Any]], Any]
    """The labels of some keys of a benchmark as they stand."""
    moved: Callable[[Session, str, Sequence[Any], Any, Any], Iterable[str]]
    """The submissions whose labels differ between two moments."""


TRIPLES = Moves(labelled, moved)


@contextmanager
def re_evaluating(
    session: Session, queue: Queue, benchmark_id: str, keys: Callable[[], Sequence[Any]], moves: Moves = TRIPLES
) -> Iterator[list[str]]:
    """Around a change of ratings within one transaction; afterwards jobs exist for the submissions it moved.

    The benchmark is locked first, so that changes happen one after the other and no submission comes in unseen.
    The list handed out holds the submissions' ids once the block has ended.
    """
    session.get(BenchmarkRow, benchmark_id, with_for_update=True, populate_existing=True)
    chosen = keys()
    before = moves.labelled(session, benchmark_id, chosen)
    touched: list[str] = []
    yield touched
    session.flush()
    after = moves.labelled(session, benchmark_id, chosen)
    touched += sorted(moves.moved(session, benchmark_id, chosen, before, after))
    _queue_evaluations(session, queue, touched)


def _rated(session: Session, benchmark_id: str) -> set[int]:
    query = select(QuestionRow.position).where(QuestionRow.benchmark_id == benchmark_id, QuestionRow.rated)
    return set(session.scalars(query))


def _changed(before: Mapping[bytes, Label], after: Mapping[bytes, Label]) -> set[bytes]:
    return {key for key in {*before, *after} if before.get(key) != after.get(key)}


def _queue_evaluations(session: Session, queue: Queue, submissions: Sequence[str]) -> None:
    """A job each, unless one waits already; that one is locked, so that it cannot start on the old labels.

    Jobs are locked first and submissions then, each in the order of their ids, as by whoever deletes a team.
    """
    kinds = (EVALUATE, EVALUATE_RELEASED, RESCORE)
    waiting = queue.hold_waiting(session, kinds, [*submissions, *rescoring.subjects_of(session, submissions)])
    left = _locked(session, submissions)
    rescoring.labels_moved(session, queue, left, waiting)
    due = [submission for submission in left if submission not in waiting]
    rows = rescoring.rows_of(session, due)
    for submission in due:
        queue.add(session, EVALUATE, submission, priority=priority_of(rows.get(submission, 0)))
    for some in batches(due):
        session.execute(
            update(Submission)
            .where(Submission.id.in_(some))
            .values(state=states.QUEUED, stage="waiting: human ratings have changed", progress=0.0)
        )


def _locked(session: Session, submissions: Sequence[str]) -> list[str]:
    """Those that no deletion has taken meanwhile, locked in order."""
    left: list[str] = []
    for some in batches(sorted(submissions)):
        query = select(Submission.id).where(Submission.id.in_(some))
        left += session.scalars(query.order_by(Submission.id).with_for_update())
    return left
