"""Judging split into chunks that all workers share, whatever the scores are then for."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from core.queue import Claim
from core.tables import Job
from scorer.evaluate import Scorer
from server.bootstrap import Services


def due(services: Services, scorer: Scorer, submission_id: str) -> list[bytes]:
    """The sorted keys of the pairs that others are to judge; empty where this worker may judge what is missing."""
    settings, missing = services.settings, scorer.missing(submission_id)
    elsewhere = settings.judge_queue != "cpu"
    return missing if elsewhere or 0 < settings.fanout_pairs < len(missing) else []


def queue_chunks(
    services: Services, session: Session, claim: Claim, kind: str, missing: list[bytes], priority: int
) -> int:
    """Queue the chunks in the job's place, subject `SUBJECT:FIRST:LAST`; returns how many."""
    settings = services.settings
    chunks = list(ranges(missing, settings.fanout_pairs or len(missing)))
    for first, last in chunks:
        subject = f"{claim.subject}:{first.hex()}:{last.hex()}"
        services.queue.add(session, kind, subject, settings.judge_queue, priority, claim.id)
    return len(chunks)


def ranges(keys: list[bytes], size: int) -> Iterator[tuple[bytes, bytes]]:
    """First and last key of as few parts of at most `size` sorted keys as there can be, all about as long."""
    parts = math.ceil(len(keys) / size)
    for part in range(parts):
        mine = keys[part * len(keys) // parts : (part + 1) * len(keys) // parts]
        yield mine[0], mine[-1]


def judge(services: Services, claim: Claim, scorer: Scorer, submission_id: str) -> None:
    """Judge the pairs of a chunk; one that was cancelled need not be judged to its end. Raises `LeaseLost`."""
    _, first, last = claim.subject.split(":")

    def progress(done: int, total: int) -> None:
        with services.database.transaction() as session:
            services.queue.hold(session, claim)

    scorer.judge_between(submission_id, bytes.fromhex(first), bytes.fromhex(last), progress)


def ended(session: Session, claim: Claim) -> tuple[int, int]:
    """How many chunks of the claim's job are done, and how many there are."""
    states = _chunks(session, session.get_one(Job, claim.id).parent)
    return states["done"], states.total()


def under_way(session: Session, kinds: Sequence[str], subject: str) -> bool:
    """True where chunks of an earlier job are open and none of them failed, so that a finisher is sure to come."""
    parents = select(Job.id).where(Job.subject == subject, Job.kind.in_(kinds))
    newest = session.scalar(select(func.max(Job.parent)).where(Job.parent.in_(parents)))
    states = _chunks(session, newest) if newest is not None else Counter[str]()
    return bool(states["queued"] + states["running"]) and not states["failed"] + states["cancelled"]


def _chunks(session: Session, parent: int | None) -> Counter[str]:
    rows = session.execute(select(Job.state, func.count()).where(Job.parent == parent).group_by(Job.state))
    return Counter(dict(rows.all()))
