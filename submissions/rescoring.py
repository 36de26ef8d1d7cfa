"""What an open rescore must hear of: entries that come in or are shown meanwhile, and labels that move."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Select, func, select, update
from sqlalchemy.orm import Session

from core.batches import batches
from core.queue import RESCORE as PRIORITY
from core.queue import Queue
from core.tables import PredictionRow, Rescore, RescoreItem, RevisionRow, Submission
from submissions.kinds import EVALUATE, RESCORE, priority_of

OPEN, PROMOTED, DROPPED = "open", "promoted", "dropped"


def open_of(session: Session, benchmark_id: str) -> Rescore | None:
    """The benchmark's open rescore, if there is one."""
    return session.scalars(select(Rescore).where(Rescore.benchmark_id == benchmark_id, Rescore.state == OPEN)).first()


def subject_of(rescore_id: int, submission_id: str) -> str:
    """The subject of the jobs that score a submission in a rescore."""
    return f"{submission_id}@{rescore_id}"


def include(session: Session, queue: Queue, submission: Submission) -> None:
    """Have the open rescore score a submission that came in or is shown from now on.

    Call it in the transaction that brings the submission: storing one waits for a rescore that starts, and the other
    way round, since both lock the benchmark's row.
    """
    rescore = open_of(session, submission.benchmark_id)
    if rescore is not None and session.get(RescoreItem, (rescore.id, submission.id)) is None:
        session.add(RescoreItem(rescore_id=rescore.id, submission_id=submission.id))
        queue.add(session, RESCORE, subject_of(rescore.id, submission.id), priority=PRIORITY)


def catch_up(session: Session, queue: Queue, submission: Submission) -> None:
    """Have a version that is shown again scored as those around it, if the last promotion passed it by."""
    include(session, queue, submission)
    last = session.scalars(
        select(Rescore)
        .where(Rescore.benchmark_id == submission.benchmark_id, Rescore.state == PROMOTED)
        .order_by(Rescore.id.desc())
    ).first()
    if last is None or last.ended_at is None or last.ended_at < submission.created_at:
        return
    item = session.get(RescoreItem, (last.id, submission.id))
    if item is None and submission.evaluation_id is not None:
        rows = rows_of(session, [submission.id]).get(submission.id, 0)
        queue.add(session, EVALUATE, submission.id, priority=priority_of(rows))


def subjects_of(session: Session, submissions: Sequence[str]) -> list[str]:
    """The subjects of the jobs that score these submissions in open rescores."""
    return [subject_of(*key) for part in batches(submissions) for key in session.execute(_open_keys(part))]


def labels_moved(session: Session, queue: Queue, submissions: Sequence[str], waiting: Collection[str]) -> None:
    """Have open rescores score submissions again whose labels changed, in the transaction that changes them.

    `waiting` are the subjects whose jobs wait, locked; the submissions are locked too.
    """
    for part in batches(submissions):
        keys = session.execute(_open_keys(part)).all()
        for rescore_id in {each for each, _ in keys}:
            theirs = (RescoreItem.rescore_id == rescore_id, RescoreItem.submission_id.in_(part))
            session.execute(update(RescoreItem).where(*theirs).values(evaluation_id=None, reason=None))
        for subject in (subject_of(*key) for key in keys):
            if subject not in waiting:
                queue.add(session, RESCORE, subject, priority=PRIORITY)


def rows_of(session: Session, submissions: Sequence[str]) -> dict[str, int]:
    """Submission → how many predictions or revisions it holds; one without any is left out."""
    found: dict[str, int] = {}
    for some in batches(submissions):
        for held in (PredictionRow.submission_id, RevisionRow.submission_id):
            counts = select(held, func.count()).where(held.in_(some)).group_by(held)
            found |= dict(session.execute(counts).all())
    return found


def _open_keys(submissions: Sequence[str]) -> Select[int, str]:
    """Rescore and submission of what open rescores hold of these."""
    return (
        select(RescoreItem.rescore_id, RescoreItem.submission_id)
        .join(Rescore, Rescore.id == RescoreItem.rescore_id)
        .where(RescoreItem.submission_id.in_(submissions), Rescore.state == OPEN)
        .order_by(RescoreItem.submission_id)
    )
