"""Which submissions hold a revision that was rated, and whose labels a change of ratings moves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from core import states
from core.editing import Snippet
from core.tables import EditRatingRow, QuestionRow, RevisionRow, Submission
from submissions.editing.labels import RevisionLabel, edit_labels_of, key_of
from submissions.ratings.touched import Moves

_LOOKUP = 500


class EditKey(NamedTuple):
    """A revision as labels find it."""

    position: int
    revision: bytes


class Held(NamedTuple):
    """A text that a submission holds: its revision, or the original beside the revision's report."""

    submission: str
    position: int
    revision: bytes
    text: str


def keys_in(session: Session, batch_id: int) -> list[EditKey]:
    """The different revisions of a stored batch."""
    query = select(EditRatingRow.position, EditRatingRow.revision).where(EditRatingRow.batch_id == batch_id)
    return [EditKey(*row) for row in session.execute(query.distinct())]


def keys_of_rater(session: Session, benchmark_id: str, rater: str) -> list[EditKey]:
    """The different revisions that a rater ever rated."""
    query = select(EditRatingRow.position, EditRatingRow.revision).where(
        EditRatingRow.benchmark_id == benchmark_id, EditRatingRow.rater == rater
    )
    return [EditKey(*row) for row in session.execute(query.distinct())]


def held_texts(session: Session, benchmark_id: str, positions: Sequence[int]) -> Iterator[Held]:
    """All texts that submissions hold of some passages; submissions that failed for good are left out."""
    for start in range(0, len(positions), _LOOKUP):
        query = (
            select(RevisionRow, QuestionRow.text)
            .join(Submission, Submission.id == RevisionRow.submission_id)
            .join(
                QuestionRow,
                (QuestionRow.benchmark_id == Submission.benchmark_id) & (QuestionRow.position == RevisionRow.position),
            )
            .where(
                Submission.benchmark_id == benchmark_id,
                Submission.state != states.FAILED,
                RevisionRow.position.in_(positions[start : start + _LOOKUP]),
            )
        )
        for row, original in session.execute(query):
            report = [Snippet(**snippet) for snippet in row.report]
            for text in dict.fromkeys((row.text, original)):
                yield Held(row.submission_id, row.position, key_of(row.position, text, report), text)


def edit_labelled(session: Session, benchmark_id: str, keys: Sequence[EditKey]) -> dict[bytes, RevisionLabel]:
    """The labels of the given revisions as they stand."""
    return edit_labels_of(session, benchmark_id, (key.revision for key in keys))


def edit_moved(
    session: Session,
    benchmark_id: str,
    keys: Sequence[EditKey],
    before: Mapping[bytes, RevisionLabel],
    after: Mapping[bytes, RevisionLabel],
) -> set[str]:
    """The submissions that hold a revision whose label differs between two moments."""
    changed = {key for key in {*before, *after} if before.get(key) != after.get(key)}
    positions = sorted({key.position for key in keys if key.revision in changed})
    return {held.submission for held in held_texts(session, benchmark_id, positions) if held.revision in changed}


REVISIONS = Moves(edit_labelled, edit_moved)
