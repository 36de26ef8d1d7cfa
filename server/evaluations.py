"""The jobs that score a submission: in one go, or in chunks that all workers share and a finisher."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from sqlalchemy import case, func, select, update
from sqlalchemy.orm import Session

from core.audit import record
from core.queue import LARGE, SMALL, Claim
from core.tables import EvaluationRow, Job, Submission
from scorer.evaluate import Scorer
from scorer.judges import released
from server import webhooks
from server.bootstrap import Services
from server.hub import outputs
from submissions.kinds import EVALUATE

CHUNK, FINISH = "judge-chunk", "finish-evaluation"
"""Kinds of jobs. A chunk's subject is `submission:first:last`, two pair hashes; its parent is the job it came from."""


def evaluate(services: Services, claim: Claim) -> None:
    """Score a submission, or split its judging if that is much; the scores and the job's end are stored together.

    What was scored with the paper's released judgments stays so when its labels change.
    """
    with services.database.reading() as session:
        judge = session.scalar(
            select(EvaluationRow.judge)
            .join(Submission, Submission.evaluation_id == EvaluationRow.id)
            .where(Submission.id == claim.subject)
        )
    if judge == released.SIGNATURE:
        _score(services, claim, services.released_scorer)
    elif not _split(services, claim):
        _score(services, claim, services.scorer)


def evaluate_released(services: Services, claim: Claim) -> None:
    """Score a system of the paper's release with the released judgments."""
    _score(services, claim, services.released_scorer)


def finish(services: Services, claim: Claim) -> None:
    """Score a submission whose chunks are judged; a pair that is missing all the same is judged here."""
    _score(services, claim, services.scorer)


def failed(services: Services, session: Session, subject: str, reason: str) -> None:
    """Tell a submission that its evaluation ended without scores; scores of an earlier evaluation stay."""
    state = case((Submission.evaluation_id.is_(None), "failed"), else_="scored")
    session.execute(update(Submission).where(Submission.id == subject).values(state=state, stage=state, reason=reason))
    if session.scalar(select(Submission.state).where(Submission.id == subject)) == "failed":
        record(session, "submission.failed", subject)
        webhooks.tell(session, services.queue, subject, webhooks.FAILED)
    outputs.queue_outputs(session, services.queue, subject)


def judge_chunk(services: Services, claim: Claim) -> None:
    """Judge the pairs between two hashes; the last chunk to end queues the finisher, once."""
    submission_id, first, last = claim.subject.split(":")
    services.scorer.judge_between(submission_id, bytes.fromhex(first), bytes.fromhex(last))
    with services.database.transaction() as session:
        # Chunks that end at the same time take turns here, so that exactly one of them finds all others done.
        session.get(Submission, submission_id, with_for_update=True)
        services.queue.finish(session, claim)
        states = _siblings(session, session.get_one(Job, claim.id).parent)
        done, total = states["done"], states.total()
        if done == total:
            services.queue.add(session, FINISH, submission_id, priority=SMALL)
        session.execute(
            update(Submission)
            .where(Submission.id == submission_id, Submission.state == "running")
            .values(stage=f"judging: {done:,} of {total:,} chunks", progress=done / total)
        )


def chunk_failed(services: Services, session: Session, subject: str, reason: str) -> None:
    """The first chunk that fails ends the evaluation; the others go on, since what they judge is kept.

    Retried by hand, the chunk completes the evaluation after all.
    """
    submission = session.get(Submission, subject.split(":")[0], with_for_update=True)
    if submission is not None and submission.state in ("queued", "running"):
        session.flush()
        failed(services, session, submission.id, f"A part of the judging failed: {reason}")


def _split(services: Services, claim: Claim) -> bool:
    """End the job by queueing chunks in its place where that is due; False where the job is to be done here."""
    settings = services.settings
    missing = services.scorer.missing(claim.subject)
    elsewhere = settings.judge_queue != "cpu"
    if not missing or not (elsewhere or 0 < settings.fanout_pairs < len(missing)):
        return False
    with services.database.transaction() as session:
        session.get(Submission, claim.subject, with_for_update=True)
        services.queue.finish(session, claim)
        if _under_way(session, claim.subject):
            return True  # the finisher of those chunks sees the newest labels
        chunks = list(_ranges(missing, settings.fanout_pairs or len(missing)))
        for first, last in chunks:
            subject = f"{claim.subject}:{first.hex()}:{last.hex()}"
            services.queue.add(session, CHUNK, subject, settings.judge_queue, LARGE, claim.id)
        session.execute(
            update(Submission)
            .where(Submission.id == claim.subject)
            .values(state="running", stage=f"judging: 0 of {len(chunks):,} chunks", progress=0.0)
        )
    return True


def _ranges(keys: list[bytes], size: int) -> Iterator[tuple[bytes, bytes]]:
    """First and last key of as few parts of at most `size` sorted keys as there can be, all about as long."""
    parts = math.ceil(len(keys) / size)
    for part in range(parts):
        mine = keys[part * len(keys) // parts : (part + 1) * len(keys) // parts]
        yield mine[0], mine[-1]


def _siblings(session: Session, parent: int | None) -> Counter[str]:
    rows = session.execute(select(Job.state, func.count()).where(Job.parent == parent).group_by(Job.state))
    return Counter(dict(rows.all()))


def _under_way(session: Session, submission_id: str) -> bool:
    """True where chunks of an earlier job are open and none of them failed, so that a finisher is sure to come."""
    parents = select(Job.id).where(Job.subject == submission_id, Job.kind == EVALUATE)
    newest = session.scalar(select(func.max(Job.parent)).where(Job.parent.in_(parents)))
    states = _siblings(session, newest) if newest is not None else Counter[str]()
    return bool(states["queued"] + states["running"]) and not states["failed"] + states["cancelled"]


def _score(services: Services, claim: Claim, scorer: Scorer) -> None:
    with services.database.reading() as session:
        first = session.get_one(Submission, claim.subject).evaluation_id is None
    _tell(services, claim.subject, state="running", stage="reading the predictions", progress=0.0)

    def progress(done: int, total: int) -> None:
        stage = f"judging: {done:,} of {total:,} pairs" if done < total else "computing metrics and intervals"
        _tell(services, claim.subject, state="running", stage=stage, progress=done / total if total else 1.0)

    def end(session: Session) -> None:
        services.queue.finish(session, claim)
        if first:
            webhooks.tell(session, services.queue, claim.subject, webhooks.SCORED)
        outputs.queue_outputs(session, services.queue, claim.subject)

    scorer.evaluate(claim.subject, end, progress)


def _tell(services: Services, submission_id: str, **values: object) -> None:
    with services.database.transaction() as session:
        session.execute(update(Submission).where(Submission.id == submission_id).values(**values))
