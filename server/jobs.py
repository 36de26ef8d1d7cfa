"""What each kind of job does: the one place where submissions, systems and scorer meet."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import case, select, update
from sqlalchemy.orm import Session

from core.audit import record
from core.queue import Claim
from core.tables import EvaluationRow, Submission
from scorer.evaluate import Scorer
from scorer.judges import released
from server import runs, webhooks
from server.bootstrap import Services
from server.exchange import jobs as exchange
from server.hub import landing, outputs, taking
from submissions.ratings.touched import EVALUATE_RELEASED


def evaluate(services: Services, claim: Claim) -> None:
    """Score a submission; the scores and the job's end are stored together.

    What was scored with the paper's released judgments stays so when its labels change.
    """
    with services.database.reading() as session:
        judge = session.scalar(
            select(EvaluationRow.judge)
            .join(Submission, Submission.evaluation_id == EvaluationRow.id)
            .where(Submission.id == claim.subject)
        )
    _evaluate(services, claim, services.released_scorer if judge == released.SIGNATURE else services.scorer)


def evaluate_released(services: Services, claim: Claim) -> None:
    """Score a system of the paper's release with the released judgments."""
    _evaluate(services, claim, services.released_scorer)


def _evaluate(services: Services, claim: Claim, scorer: Scorer) -> None:
    with services.database.reading() as session:
        first = session.get_one(Submission, claim.subject).evaluation_id is None
    _tell(services, claim.subject, state="running", stage="reading the predictions", progress=0.0)

    def progress(done: int, total: int) -> None:
        stage = f"judging: {done:,} of {total:,} pairs" if done < total else "computing metrics and intervals"
        _tell(services, claim.subject, state="running", stage=stage, progress=done / total if total else 1.0)

    def finish(session: Session) -> None:
        services.queue.finish(session, claim)
        if first:
            webhooks.tell(session, claim.subject, webhooks.SCORED)
        outputs.queue_outputs(session, claim.subject, services.queue)

    scorer.evaluate(claim.subject, finish, progress)


def evaluate_failed(session: Session, subject: str, reason: str) -> None:
    """Tell a submission that its evaluation ended without scores; scores of an earlier evaluation stay."""
    failed = case((Submission.evaluation_id.is_(None), "failed"), else_="scored")
    session.execute(
        update(Submission).where(Submission.id == subject).values(state=failed, stage=failed, reason=reason)
    )
    if session.scalar(select(Submission.state).where(Submission.id == subject)) == "failed":
        record(session, "submission.failed", subject)
        webhooks.tell(session, subject, webhooks.FAILED)
    outputs.queue_outputs(session, subject)


JOBS: dict[str, Callable[[Services, Claim], None]] = {
    "evaluate": evaluate,
    EVALUATE_RELEASED: evaluate_released,
    runs.KIND: runs.execute,
    landing.TAKE: taking.take,
    taking.SAY: taking.say,
    outputs.GIVE: outputs.give,
    exchange.POLL: exchange.poll,
    exchange.PUBLISH: exchange.publish,
    webhooks.KIND: webhooks.deliver,
}
FAILED: dict[str, Callable[[Session, str, str], None]] = {
    "evaluate": evaluate_failed,
    EVALUATE_RELEASED: evaluate_failed,
    runs.KIND: runs.failed,
    landing.TAKE: taking.failed,
    taking.SAY: taking.unsaid,
    outputs.GIVE: outputs.given_up,
    exchange.POLL: exchange.failed,
    exchange.PUBLISH: exchange.failed,
    webhooks.KIND: webhooks.failed,
}


def _tell(services: Services, submission_id: str, **values: object) -> None:
    with services.database.transaction() as session:
        session.execute(update(Submission).where(Submission.id == submission_id).values(**values))
