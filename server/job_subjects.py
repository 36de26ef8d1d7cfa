"""What a job is about, in words and as a link: its subject alone is an id."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.batches import batches
from core.errors import InvalidInput
from core.queue import Claim
from core.tables import Job, Repo, RunRow, Submission, System, Team, Webhook, WebhookDelivery
from server import evaluations, rescoring, runs, snapshots, webhooks
from server.exchange import jobs as exchange
from server.hub import landing, outputs, taking
from submissions.kinds import EVALUATE, EVALUATE_RELEASED, RESCORE

TITLES = {
    EVALUATE: "Score a submission",
    EVALUATE_RELEASED: "Score with released judgments",
    evaluations.CHUNK: "Judge a part",
    evaluations.FINISH: "Score what was judged in parts",
    RESCORE: "Score anew, beside",
    rescoring.CHUNK: "Judge a part anew",
    rescoring.FINISH: "Score anew what was judged in parts",
    runs.KIND: "Run a system",
    landing.TAKE: "Take in a commit",
    taking.SAY: "Report on a commit",
    outputs.GIVE: "Commit scored outputs",
    exchange.POLL: "Look into the inbox",
    exchange.PUBLISH: "Publish the boards",
    webhooks.KIND: "Send a webhook's message",
    snapshots.KIND: "Keep the boards as they are",
}
"""Kind → what it does, in words."""
OF_SUBMISSIONS = (
    EVALUATE, EVALUATE_RELEASED, evaluations.CHUNK, evaluations.FINISH, RESCORE, rescoring.CHUNK, rescoring.FINISH,
    outputs.GIVE,
)  # fmt: skip
_OF_COMMITS = (landing.TAKE, taking.SAY)


@dataclass(frozen=True, slots=True)
class About:
    """What a job is about: words, the submission and the team where there is one."""

    text: str
    submission: str | None = None
    team_id: int | None = None


def checked_kind(kind: str) -> str:
    """The kind itself. Raises `InvalidInput` for one that no job has."""
    if kind not in TITLES:
        raise InvalidInput(f"There is no kind {kind[:60]!r}.", f"Kinds: {', '.join(TITLES)}.")
    return kind


def submission_of(kind: str, subject: str) -> str | None:
    """The id of the submission that a job is about; None for jobs about something else."""
    return re.split("[:@]", subject, maxsplit=1)[0] if kind in OF_SUBMISSIONS else None


def about(session: Session, jobs: Iterable[Job]) -> dict[int, About]:
    """Job id → what it is about, in few queries; what is gone is told by its id."""
    found = list(jobs)
    submissions = _submissions(session, {each for job in found if (each := submission_of(job.kind, job.subject))})
    runs_ = _runs(session, {job.subject for job in found if job.kind == runs.KIND})
    messages = _messages(session, {int(job.subject) for job in found if job.kind == webhooks.KIND})
    repos = _repos(session, {int(job.subject.partition(":")[0]) for job in found if job.kind in _OF_COMMITS})
    others = runs_ | messages
    told: dict[int, About] = {}
    for job in found:
        held: dict[str, About]
        key = submission_of(job.kind, job.subject)
        if key is not None:
            held = submissions
        elif job.kind in _OF_COMMITS:
            held, key = repos, job.subject.partition(":")[0]
        else:
            held, key = others, job.subject
        told[job.id] = held.get(key) or About(job.subject)
    return told


def of_claim(session: Session, claim: Claim) -> About:
    """What a job in hand is about."""
    return about(session, [Job(id=claim.id, kind=claim.kind, subject=claim.subject)])[claim.id]


def _submissions(session: Session, ids: Collection[str]) -> dict[str, About]:
    columns = (Submission.id, System.name, Submission.version, Team.name, Team.id)
    query = select(*columns).join(System, System.id == Submission.system_id).join(Team, Team.id == System.team_id)
    return {
        key: About(f"{system} v{version} of {team}", key, team_id)
        for part in batches(sorted(ids))
        for key, system, version, team, team_id in session.execute(query.where(Submission.id.in_(part)))
    }


def _runs(session: Session, ids: Collection[str]) -> dict[str, About]:
    query = select(RunRow.id, RunRow.system, RunRow.benchmark_id, RunRow.submission_id, RunRow.team_id)
    return {
        key: About(f"{system} on {benchmark}", submission, team_id)
        for part in batches(sorted(ids))
        for key, system, benchmark, submission, team_id in session.execute(query.where(RunRow.id.in_(part)))
    }


def _messages(session: Session, ids: Collection[int]) -> dict[str, About]:
    query = (
        select(WebhookDelivery.id, WebhookDelivery.event, Team.name, Team.id)
        .join(Webhook, Webhook.id == WebhookDelivery.webhook_id)
        .join(Team, Team.id == Webhook.team_id)
    )
    return {
        str(key): About(f"{event} to {team}", None, team_id)
        for part in batches(sorted(ids))
        for key, event, team, team_id in session.execute(query.where(WebhookDelivery.id.in_(part)))
    }


def _repos(session: Session, ids: Collection[int]) -> dict[str, About]:
    query = select(Repo.id, Repo.name, Team.name, Team.id).join(Team, Team.id == Repo.team_id)
    return {
        str(key): About(f"{name} of {team}", None, team_id)
        for part in batches(sorted(ids))
        for key, name, team, team_id in session.execute(query.where(Repo.id.in_(part)))
    }
