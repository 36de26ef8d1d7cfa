"""Scored outputs as commits by the service, in the repository that the predictions came from."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core import states
from core.blob_keeping import ensure_all
from core.queue import Claim, Queue
from core.tables import Repo, RepoCommit, Submission
from server.bootstrap import Services
from submissions.repos import store
from submissions.repos.content import Content, keep
from submissions.repos.entering import EXAMPLES, OUTPUTS, REPORT, SCORES, is_predictions
from submissions.repos.store import Change, Message

GIVE = "hub-outputs"
"""The job that commits a submission's outputs; its subject is the submission."""
_SERVICE = "aqa-leaderboard"


def queue_outputs(session: Session, queue: Queue, submission_id: str) -> None:
    """Queue that job, in the transaction that ends an evaluation, for a submission that came by a commit."""
    if _source(session, submission_id) is not None:
        queue.add(session, GIVE, submission_id)


def give(services: Services, claim: Claim) -> None:
    """Commit scores, examples and report; nothing happens where they are there already or newer predictions came."""
    with services.database.reading() as session:
        submission = session.get(Submission, claim.subject)
    contents = _contents(services, submission) if submission is not None else {}
    with services.database.transaction() as session:
        source = _source(session, claim.subject)
        if source is not None and submission is not None:
            session.get_one(Repo, source.repo_id, with_for_update=True)
            if _newest(session, source, submission):
                contents[REPORT] = keep(services.blobs, _json(_report(session, submission, source)))
                summary = "Add scores" if SCORES in contents else "Say why there are no scores"
                _put(services, session, source.repo_id, contents, Message(_SERVICE, summary, "", True, submission.id))
        services.queue.finish(session, claim)


def given_up(services: Services, session: Session, subject: str, reason: str) -> None:
    """The job ended by a fault of ours: the scores stand on the page and at the API all the same."""


def put_report(services: Services, session: Session, repo_id: int, commit: str, document: dict[str, Any]) -> None:
    """Commit a report alone: outputs of earlier predictions do not stay beside it."""
    contents = {REPORT: keep(services.blobs, _json(document))}
    _put(services, session, repo_id, contents, Message(_SERVICE, f"Say why {commit[:7]} was refused", "", True))


def _put(services: Services, session: Session, repo_id: int, contents: dict[str, Content], message: Message) -> None:
    there = store.tree(session, repo_id, store.head(session, repo_id).seq)
    changes = [Change(path, contents.get(path)) for path in OUTPUTS if path in contents or path in there]
    store.commit(session, repo_id, changes, message)
    ensure_all(session, services.blobs, [content.blob for content in contents.values()])


def _contents(services: Services, submission: Submission) -> dict[str, Content]:
    """`scores.json` and `examples.parquet` as `aqa score` writes them; empty where there are no scores."""
    from scorer.outputs import Source, from_stored, write_all

    if submission.evaluation_id is None or submission.state == states.FAILED:
        return {}
    outputs = from_stored(services.database, services.benchmarks, submission.id)
    source = Source(submission.file_name, submission.file_blob, services.blobs.size(submission.file_blob), "")
    with tempfile.TemporaryDirectory() as folder:
        write_all(outputs, Path(folder), source, ("parquet",))
        return {name: keep(services.blobs, (Path(folder) / name).read_bytes()) for name in (SCORES, EXAMPLES)}


def _report(session: Session, submission: Submission, source: RepoCommit) -> dict[str, Any]:
    from scorer.outputs import in_order

    current = session.get_one(Submission, submission.id)
    failed = {"code": "failed", "message": current.reason or "", "hint": "Send the predictions again."}
    return {
        "accepted": True,
        "submission": current.id,
        "benchmark": current.benchmark_id,
        "system": current.system.name,
        "version": current.version,
        "commit": source.oid,
        "file": current.file_name,
        "state": current.state,
        "error": failed if current.state == states.FAILED else None,
        **{key: value for key, value in in_order(current.report).items() if key != "accepted"},
    }


def _source(session: Session, submission_id: str) -> RepoCommit | None:
    """The commit that the submission came with."""
    by_team = (RepoCommit.submission_id == submission_id, RepoCommit.by_service.is_(False))
    return session.scalars(select(RepoCommit).where(*by_team)).first()


def _newest(session: Session, source: RepoCommit, submission: Submission) -> bool:
    """True while the submission's predictions are the newest in the repository."""
    files = store.tree(session, source.repo_id, store.head(session, source.repo_id).seq)
    rows = [row for path, row in files.items() if is_predictions(path)]
    return all(row.added <= source.seq for row in rows) and any(row.blob == submission.file_blob for row in rows)


def _json(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False).encode("utf-8", "surrogatepass") + b"\n"
