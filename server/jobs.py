"""What each kind of job does: the one place where submissions, systems and scorer meet."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy.orm import Session

from core.queue import Claim
from server import evaluations, rescoring, runs, snapshots, webhooks
from server.bootstrap import Services
from server.evaluations import evaluate
from server.exchange import jobs as exchange
from server.hub import landing, outputs, taking
from submissions.kinds import EVALUATE, EVALUATE_RELEASED, RESCORE

JOBS: dict[str, Callable[[Services, Claim], None]] = {
    EVALUATE: evaluate,
    EVALUATE_RELEASED: evaluations.evaluate_released,
    evaluations.CHUNK: evaluations.judge_chunk,
    evaluations.FINISH: evaluations.finish,
    RESCORE: rescoring.rescore,
    rescoring.CHUNK: rescoring.judge_chunk,
    rescoring.FINISH: rescoring.finish,
    runs.KIND: runs.execute,
    landing.TAKE: taking.take,
    taking.SAY: taking.say,
    outputs.GIVE: outputs.give,
    exchange.POLL: exchange.poll,
    exchange.PUBLISH: exchange.publish,
    webhooks.KIND: webhooks.deliver,
    snapshots.KIND: snapshots.execute,
}
AGAIN: dict[str, Callable[[Services, Session, str], None]] = {
    EVALUATE: evaluations.again,
    EVALUATE_RELEASED: evaluations.again,
    evaluations.CHUNK: evaluations.again,
    evaluations.FINISH: evaluations.again,
    RESCORE: rescoring.again,
    rescoring.CHUNK: rescoring.again,
    rescoring.FINISH: rescoring.again,
    runs.KIND: runs.again,
    webhooks.KIND: webhooks.again,
}
"""What is told that its job was queued again by hand; other kinds keep no state of their own."""
TOGETHER = (evaluations.CHUNK, rescoring.CHUNK)
"""Kinds whose jobs of one parent make sense together only: they are cancelled and retried as one."""
FAILED: dict[str, Callable[[Services, Session, str, str], None]] = {
    EVALUATE: evaluations.failed,
    EVALUATE_RELEASED: evaluations.failed,
    evaluations.CHUNK: evaluations.chunk_failed,
    evaluations.FINISH: evaluations.failed,
    RESCORE: rescoring.failed,
    rescoring.CHUNK: rescoring.failed,
    rescoring.FINISH: rescoring.failed,
    runs.KIND: runs.failed,
    landing.TAKE: taking.failed,
    taking.SAY: taking.unsaid,
    outputs.GIVE: outputs.given_up,
    exchange.POLL: exchange.failed,
    exchange.PUBLISH: exchange.failed,
    webhooks.KIND: webhooks.failed,
    snapshots.KIND: snapshots.failed,
}
