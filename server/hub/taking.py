"""The job behind a commit that brings predictions: through the one door, and a report where it stays shut."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import AqaError, Refused, Unavailable
from core.queue import RETRIABLE, Claim
from core.tables import Job, Repo, RepoCommit, RepoEntry, Submission, SubmissionSource
from server.bootstrap import Services
from server.hub.landing import TAKE
from server.hub.outputs import put_report
from submissions.report import report_to_dict
from submissions.repos import entering, store
from submissions.repos.card import Entering, read_card
from submissions.repos.entering import Brought
from submissions.repos.names import namespace_of

SAY = "hub-say"
"""The job that tells of a fault of ours; its subject is that of the job that failed."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """A commit with predictions and the files it left in the repository."""

    repo: Repo
    namespace: str
    commit: RepoCommit
    tree: dict[str, RepoEntry]
    brought: Brought


def take(services: Services, claim: Claim) -> None:
    """Make a submission of the commit, or commit the report that says why not; once, however often it is tried."""
    repo_id, _, seq = claim.subject.partition(":")
    pushed = _pushed(services, int(repo_id), int(seq))
    if pushed is None:
        _finish(services, claim)
        return
    found: Entering | None = None
    try:
        found = read_card(entering.metadata_files(pushed.tree, services.blobs), pushed.repo.name)
        if found is None:
            _finish(services, claim)
            return
        _accept(services, claim, pushed, found)
    except Unavailable:
        raise
    except AqaError as error:
        document = _refusal(services, pushed, found, error)
        with services.database.transaction() as session:
            put_report(services, session, pushed.repo.id, pushed.commit.oid, document)
            services.queue.finish(session, claim)


def failed(services: Services, session: Session, subject: str, reason: str) -> None:
    """The job ended without a submission, by no fault of the team: have the repository say so."""
    services.queue.add(session, SAY, subject)


def say(services: Services, claim: Claim) -> None:
    """Commit the report of a fault of ours."""
    repo_id, _, seq = claim.subject.partition(":")
    pushed = _pushed(services, int(repo_id), int(seq))
    with services.database.transaction() as session:
        if pushed is not None:
            ended = select(Job.reason).where(Job.kind == TAKE, Job.subject == claim.subject, Job.state.in_(RETRIABLE))
            fault = AqaError(
                session.scalar(ended.order_by(Job.id.desc()).limit(1)) or "It failed.",
                "Commit a changed system.yaml to try again.",
            )
            put_report(services, session, pushed.repo.id, pushed.commit.oid, _refusal(services, pushed, None, fault))
        services.queue.finish(session, claim)


def unsaid(services: Services, session: Session, subject: str, reason: str) -> None:
    """Even that failed: the job's row keeps the reason for the maintainers."""


def _pushed(services: Services, repo_id: int, seq: int) -> Pushed | None:
    """None where the repository is gone or the commit was taken in before."""
    with services.database.transaction() as session:
        commit = session.get(RepoCommit, (repo_id, seq))
        if commit is None or commit.submission_id is not None:
            return None
        repo = session.get_one(Repo, repo_id)
        before, after = (store.tree(session, repo_id, at) for at in (seq - 1, seq))
        brought = entering.brought(session, repo_id, before, after)
        return Pushed(repo, namespace_of(session, repo.team_id), commit, after, brought) if brought else None


def _accept(services: Services, claim: Claim, pushed: Pushed, found: Entering) -> None:
    path, repo = pushed.brought.path, pushed.repo
    reference = f"hub/datasets/{pushed.namespace}/{repo.name}/{path}@{pushed.commit.oid}"

    def finish(session: Session, submission: Submission) -> None:
        session.get_one(RepoCommit, (repo.id, pushed.commit.seq)).submission_id = submission.id
        session.add(SubmissionSource(submission_id=submission.id, reference=reference))
        services.queue.finish(session, claim)

    with services.blobs.open(pushed.tree[path].blob) as stream:
        services.intake.accept(
            repo.team_id, found.benchmark, found.card, stream, path, publish=found.publish, finish=finish
        )


def _refusal(services: Services, pushed: Pushed, found: Entering | None, error: AqaError) -> dict[str, Any]:
    """The report of the reader where it was the file that was refused, else the error alone."""
    document: dict[str, Any] = {
        "accepted": False,
        "submission": None,
        "commit": pushed.commit.oid,
        "file": ", ".join(pushed.brought.paths),
        "error": {"code": error.code, "message": error.message, "hint": error.hint},
        "places": [asdict(place) for place in error.places],
    }
    if isinstance(error, Refused) and found is not None and error.places:
        with services.blobs.open(pushed.tree[pushed.brought.path].blob) as stream:
            report = services.intake.validate(found.benchmark, stream, pushed.brought.path).report
        document |= report_to_dict(report)
    return document


def _finish(services: Services, claim: Claim) -> None:
    with services.database.transaction() as session:
        services.queue.finish(session, claim)
