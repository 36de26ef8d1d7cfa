"""The jobs of a rescore: a submission scored under another recipe, beside the scores that are shown."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import Conflict
from core.queue import RESCORE as PRIORITY
from core.queue import Claim
from core.tables import EvaluationRow, Rescore, RescoreItem, Submission
from scorer.evaluate import Scorer
from scorer.judges import released
from server import fanout
from server.bootstrap import Services
from server.evaluations import RELEASED
from submissions.kinds import RESCORE
from submissions.rescoring import OPEN

CHUNK, FINISH = "rescore-chunk", "rescore-finish"


@dataclass(frozen=True, slots=True)
class Work:
    """A submission of an open rescore and what scores it."""

    rescore: Rescore
    submission: str
    scorer: Scorer


def rescore(services: Services, claim: Claim) -> None:
    """Score a submission of a rescore, or split its judging if that is much."""
    work = _work(services, claim)
    if work is None:
        _leave(services, claim)
    elif not _split(services, claim, work):
        _score(services, claim, work)


def judge_chunk(services: Services, claim: Claim) -> None:
    """Judge a part; the last one to end queues the finisher, once."""
    work = _work(services, claim)
    if work is None:
        return _leave(services, claim)
    fanout.judge(services, claim, work.scorer, work.submission)
    with services.database.transaction() as session:
        services.queue.finish(session, claim)
        # Chunks that end at the same time take turns here, so that exactly one of them finds all others done.
        session.get(RescoreItem, (work.rescore.id, work.submission), with_for_update=True)
        done, total = fanout.ended(session, claim)
        if done == total:
            services.queue.add(session, FINISH, claim.subject.split(":")[0], priority=PRIORITY)


def finish(services: Services, claim: Claim) -> None:
    """Score a submission whose parts are judged."""
    work = _work(services, claim)
    if work is None:
        _leave(services, claim)
    else:
        _score(services, claim, work)


def failed(services: Services, session: Session, subject: str, reason: str) -> None:
    """What is shown stays; the rescore knows why it lacks this one."""
    item = _item(session, subject)
    if item is not None and item.evaluation_id is None:
        item.reason = reason


def again(services: Services, session: Session, subject: str) -> None:
    """A job of the submission was queued again. Raises `Conflict` where there is nothing left to do."""
    item = _item(session, subject)
    if item is None or session.get_one(Rescore, item.rescore_id).state != OPEN:
        raise Conflict("This rescore is over, so there is nothing to do again.", "Start another: aqa rescore start")
    item.reason = None


def frame_of(services: Services, rescore: Rescore, scorer: Scorer) -> str:
    """The recipe that the rescore asks of this scorer, as this process knows it. Raises `Conflict` for another.

    What rests on the released judgments keeps its judge, so only the rest of the recipe is compared.
    """
    found = scorer.frame(services.benchmarks.get(rescore.benchmark_id))
    kept = scorer.judge.signature == released.SIGNATURE
    if found != rescore.recipe and not (kept and _rest(found) == _rest(rescore.recipe)):
        raise Conflict(
            f"Rescore {rescore.id} was started under another recipe than this process has: {rescore.recipe} there, "
            f"{found} here.",
            "Run all workers with the version and the settings that it was started with, or drop it and start again.",
        )
    return found


def _rest(recipe: str) -> set[str]:
    return {part for part in recipe.split("|") if part.startswith(("bench:", "metrics:", "bs:", "seed:", "sent:"))}


def _work(services: Services, claim: Claim) -> Work | None:
    """None where the rescore is over or the submission is gone. Raises `Conflict` for a recipe of another version."""
    with services.database.reading() as session:
        item = _item(session, claim.subject)
        found = session.get(Rescore, item.rescore_id) if item is not None else None
        if item is None or found is None or found.state != OPEN:
            return None
        before = session.scalar(
            select(EvaluationRow.judge)
            .join(Submission, Submission.evaluation_id == EvaluationRow.id)
            .where(Submission.id == item.submission_id)
        )
    kept = before == released.SIGNATURE and not found.released_too
    work = Work(found, item.submission_id, services.scorer_for(RELEASED if kept else found.judge))
    frame_of(services, found, work.scorer)
    return work


def _split(services: Services, claim: Claim, work: Work) -> bool:
    if work.scorer.judge.signature == released.SIGNATURE:
        return False
    missing = fanout.due(services, work.scorer, work.submission)
    if not missing:
        return False
    with services.database.transaction() as session:
        services.queue.finish(session, claim)
        session.get(RescoreItem, (work.rescore.id, work.submission), with_for_update=True)
        if not fanout.under_way(session, (RESCORE,), claim.subject):
            fanout.queue_chunks(services, session, claim, CHUNK, missing, PRIORITY)
    return True


def _score(services: Services, claim: Claim, work: Work) -> None:
    def progress(done: int, total: int) -> None:
        with services.database.transaction() as session:
            services.queue.hold(session, claim)

    def keep(session: Session, evaluation_id: int) -> None:
        services.queue.finish(session, claim)
        item = session.get(RescoreItem, (work.rescore.id, work.submission), with_for_update=True)
        # The benchmark is locked by now: what was promoted or dropped meanwhile keeps what it had then.
        if item is not None and session.get_one(Rescore, work.rescore.id).state == OPEN:
            item.evaluation_id, item.reason = evaluation_id, None

    work.scorer.evaluate(work.submission, keep, progress)


def _leave(services: Services, claim: Claim) -> None:
    with services.database.transaction() as session:
        services.queue.finish(session, claim)


def _item(session: Session, subject: str) -> RescoreItem | None:
    submission, _, rescore_id = subject.split(":")[0].partition("@")
    return session.get(RescoreItem, (int(rescore_id), submission)) if rescore_id.isdigit() else None
