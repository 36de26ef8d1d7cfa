"""The jobs that score a submission: in one go, or in chunks that all workers share and a finisher."""

from __future__ import annotations

from sqlalchemy import case, select, update
from sqlalchemy.orm import Session

from core import states
from core.audit import record
from core.errors import Conflict
from core.queue import CANCELLED, LARGE, SMALL, Claim
from core.tables import BenchmarkRow, EvaluationRow, Submission
from scorer.judges import released
from scorer.stored import show
from server import fanout, webhooks
from server.bootstrap import Services
from server.hub import outputs
from submissions.kinds import EVALUATE

CHUNK, FINISH = "judge-chunk", "finish-evaluation"
"""Kinds of jobs. A chunk's subject is `submission:first:last`, two pair hashes; its parent is the job it came from."""
RELEASED = "released"


class _JudgeMoved(Exception):
    """Another judge was promoted while this one scored."""


def evaluate(services: Services, claim: Claim) -> None:
    """Score a submission, or split its judging if that is much; the scores and the job's end are stored together.

    What was scored with the paper's released judgments stays so when its labels change.
    """
    if not _gone(services, claim):
        _score_as_due(services, claim, split=True)


def evaluate_released(services: Services, claim: Claim) -> None:
    """Score a system of the paper's release with the released judgments."""
    if not _gone(services, claim):
        _score(services, claim, RELEASED, fixed=True)


def finish(services: Services, claim: Claim) -> None:
    """Score a submission whose chunks are judged; a pair that is missing all the same is judged here."""
    if not _gone(services, claim):
        _score_as_due(services, claim, split=False)


def failed(services: Services, session: Session, subject: str, reason: str) -> None:
    """Tell a submission that its evaluation ended without scores; scores of an earlier evaluation stay."""
    state = case((Submission.evaluation_id.is_(None), states.FAILED), else_=states.SCORED)
    session.execute(update(Submission).where(Submission.id == subject).values(state=state, stage=state, reason=reason))
    if session.scalar(select(Submission.state).where(Submission.id == subject)) == states.FAILED:
        record(session, "submission.failed", subject)
        webhooks.tell(session, services.queue, subject, webhooks.FAILED)
    outputs.queue_outputs(session, services.queue, subject)


def again(services: Services, session: Session, subject: str) -> None:
    """A job of the submission was queued again. Raises `Conflict` where the submission is gone."""
    submission = session.get(Submission, subject.split(":")[0], with_for_update=True)
    if submission is None:
        raise Conflict("The submission is gone, so there is nothing to do again.")
    submission.state, submission.stage, submission.progress = states.QUEUED, "waiting for a worker", 0.0
    submission.reason = None


def judge_chunk(services: Services, claim: Claim) -> None:
    """Judge the pairs between two hashes; the last chunk to end queues the finisher, once."""
    if _gone(services, claim):
        return
    submission_id = claim.subject.split(":")[0]
    fanout.judge(services, claim, services.scorer_for(_judge(services, submission_id)), submission_id)
    with services.database.transaction() as session:
        services.queue.finish(session, claim)
        # Chunks that end at the same time take turns here, so that exactly one of them finds all others done.
        session.get(Submission, submission_id, with_for_update=True)
        done, total = fanout.ended(session, claim)
        if done == total:
            services.queue.add(session, FINISH, submission_id, priority=SMALL)
        session.execute(
            update(Submission)
            .where(Submission.id == submission_id, Submission.state == states.RUNNING)
            .values(stage=f"judging: {done:,} of {total:,} chunks", progress=done / total)
        )


def chunk_failed(services: Services, session: Session, subject: str, reason: str) -> None:
    """The first chunk that fails ends the evaluation; the others go on, since what they judge is kept.

    Retried by hand, the chunk completes the evaluation after all.
    """
    submission = session.get(Submission, subject.split(":")[0], with_for_update=True)
    if submission is not None and submission.state not in states.FINISHED:
        session.flush()
        told = reason if reason == CANCELLED else f"A part of the judging failed: {reason}"
        failed(services, session, submission.id, told)


def _gone(services: Services, claim: Claim) -> bool:
    """True where the submission was deleted meanwhile: the job ends then, since there is nothing to score."""
    # Only looked at as a rule: to begin writing would have every job wait for the one writer of SQLite.
    with services.database.reading() as session:
        if session.get(Submission, claim.subject.split(":")[0]) is not None:
            return False
    with services.database.transaction() as session:
        services.queue.finish(session, claim)
    return True


def _judge(services: Services, submission_id: str) -> str:
    """The spec of the judge that a submission is due to be scored by."""
    with services.database.reading() as session:
        return _due(services, session, submission_id)


def _due(services: Services, session: Session, submission_id: str) -> str:
    query = (
        select(BenchmarkRow.judge, EvaluationRow.judge)
        .join(Submission, Submission.benchmark_id == BenchmarkRow.id)
        .outerjoin(EvaluationRow, EvaluationRow.id == Submission.evaluation_id)
        .where(Submission.id == submission_id)
    )
    promoted, before = session.execute(query).first() or (None, None)
    return RELEASED if before == released.SIGNATURE else promoted or services.settings.judge


def _split(services: Services, claim: Claim, judge: str) -> bool:
    """End the job by queueing chunks in its place where that is due; False where the job is to be done here."""
    missing = fanout.due(services, services.scorer_for(judge), claim.subject)
    if not missing:
        return False
    with services.database.transaction() as session:
        services.queue.finish(session, claim)
        session.get(Submission, claim.subject, with_for_update=True)
        if fanout.under_way(session, (EVALUATE, FINISH), claim.subject):
            return True  # the finisher of those chunks sees the newest labels
        total = fanout.queue_chunks(services, session, claim, CHUNK, missing, LARGE)
        session.execute(
            update(Submission)
            .where(Submission.id == claim.subject)
            .values(state=states.RUNNING, stage=f"judging: 0 of {total:,} chunks", progress=0.0)
        )
    return True


def _score_as_due(services: Services, claim: Claim, *, split: bool) -> None:
    """Score by the judge that is due when the scores are stored; a promotion in between has it done again.

    The pairs of a judge that came in between are split like any others: this worker may not be one to judge them.
    """
    while True:
        judge = _judge(services, claim.subject)
        if split and judge != RELEASED and _split(services, claim, judge):
            return
        try:
            return _score(services, claim, judge)
        except _JudgeMoved:
            split = True


def _score(services: Services, claim: Claim, judge: str, *, fixed: bool = False) -> None:
    with services.database.reading() as session:
        first = session.get_one(Submission, claim.subject).evaluation_id is None
    _tell(services, claim, stage="reading the predictions", progress=0.0)

    def progress(done: int, total: int) -> None:
        stage = f"judging: {done:,} of {total:,} pairs" if done < total else "computing metrics and intervals"
        _tell(services, claim, stage=stage, progress=done / total if total else 1.0)

    def keep(session: Session, evaluation_id: int) -> None:
        # The benchmark is locked by now, so that no judge is promoted between this look and the commit.
        if not fixed and _due(services, session, claim.subject) != judge:
            raise _JudgeMoved
        services.queue.finish(session, claim)
        show(session, claim.subject, evaluation_id)
        if first:
            webhooks.tell(session, services.queue, claim.subject, webhooks.SCORED)
        outputs.queue_outputs(session, services.queue, claim.subject)

    services.scorer_for(judge).evaluate(claim.subject, keep, progress)


def _tell(services: Services, claim: Claim, **values: object) -> None:
    """Say how far it is, as long as it is this worker's to say."""
    with services.database.transaction() as session:
        services.queue.hold(session, claim)
        session.execute(update(Submission).where(Submission.id == claim.subject).values(state=states.RUNNING, **values))
