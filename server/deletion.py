"""Deletes a team with everything that is its own: rows, and the blobs that nobody else needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from core.blob_keeping import hold
from core.errors import NotFound
from core.queue import OPEN, Queue
from core.tables import (
    EvaluationRow,
    Job,
    Repo,
    RepoEntry,
    RepoUpload,
    RunRow,
    Submission,
    System,
    Team,
    Upload,
    UploadPart,
)
from server import runs
from server.bootstrap import Services
from server.job_subjects import OF_SUBMISSIONS, submission_of
from server.run_parts import blobs_of

_REASON = "The team that it was for was deleted."


@dataclass(frozen=True)
class Deleted:
    """What went with a team."""

    team: str
    submissions: int
    evaluations: int
    blobs: int


def delete_team(services: Services, team_id: int) -> Deleted:
    """Delete the team. What stays: judgments (they hold hashes), ratings of its answers (the benchmark's), the log.

    An evaluation or a blob that another team's submission shares stays too. Raises `NotFound`.
    """
    with services.database.transaction() as session:
        team = session.get(Team, team_id, with_for_update=True) if 0 < team_id < 2**31 else None
        if team is None:
            raise NotFound(f"There is no team {team_id}.", "`aqa team list` shows all.")
        blobs = set(_blobs(session, team_id))
        theirs = select(Submission).join(System).where(System.team_id == team_id)
        submissions = list(session.scalars(theirs))
        contents = {(row.benchmark_id, row.digest) for row in submissions}
        started = session.scalars(select(RunRow.id).where(RunRow.team_id == team_id))
        _cancel(services.queue, session, {*(row.id for row in submissions), *started})
        # In the order in which everybody locks several: what the team's row takes with it goes as it lies.
        session.scalars(theirs.order_by(Submission.id).with_for_update(of=Submission)).all()
        session.delete(team)
        session.flush()
        evaluations = sum(_forget(session, *content) for content in contents)
    return Deleted(team.name, len(submissions), evaluations, drop_unused(services, blobs))


def drop_unused(services: Services, blobs: Iterable[str]) -> int:
    """Remove those of the blobs that no row names; returns how many."""
    removed = 0
    for blob in blobs:
        # Whoever comes to need the same bytes at this moment waits here, and stores them again (see `ensure`).
        with services.database.transaction() as session:
            hold(session, blob)
            if not _used(session, blob):
                services.blobs.delete(blob)
                removed += 1
    return removed


def _blobs(session: Session, team_id: int) -> Iterator[str]:
    repos = select(Repo.id).where(Repo.team_id == team_id)
    uploads = select(Upload.id).where(Upload.team_id == team_id)
    yield from session.scalars(select(Submission.file_blob).join(System).where(System.team_id == team_id))
    yield from session.scalars(select(RepoEntry.blob).where(RepoEntry.repo_id.in_(repos)))
    yield from session.scalars(select(RepoUpload.blob).where(RepoUpload.repo_id.in_(repos)))
    yield from session.scalars(select(UploadPart.blob).where(UploadPart.upload_id.in_(uploads)))
    for run in session.scalars(select(RunRow).where(RunRow.team_id == team_id)):
        yield from _of_run(run)


def _of_run(run: RunRow) -> Iterator[str]:
    yield from blobs_of(run.plan)
    if outputs := run.details.get("outputs"):
        yield str(outputs)


def _used(session: Session, blob: str) -> bool:
    for column in (Submission.file_blob, RepoEntry.blob, RepoUpload.blob, UploadPart.blob):
        if session.scalar(select(column).where(column == blob).limit(1)) is not None:
            return True
    return any(blob in _of_run(run) for run in session.scalars(select(RunRow)))


def _forget(session: Session, benchmark_id: str, digest: str) -> int:
    """Delete the evaluations of a content, older ones included, unless somebody else submitted the same."""
    same = (Submission.benchmark_id == benchmark_id, Submission.digest == digest)
    if session.scalar(select(Submission.id).where(*same).limit(1)) is not None:
        return 0
    gone = (EvaluationRow.benchmark_id == benchmark_id, EvaluationRow.digest == digest)
    found = list(session.scalars(select(EvaluationRow.id).where(*gone)))
    session.execute(delete(EvaluationRow).where(*gone))
    return len(found)


def _cancel(queue: Queue, session: Session, subjects: Collection[str]) -> None:
    """End the jobs about these submissions and runs, their parts and those of rescores included.

    A job in hand notices when it wants to finish: its fence has moved on. One that ended while it was waited for here
    may have left others in its place, so that it is looked again until none is found.
    """
    while waiting := _open(session, subjects):
        queue.cancel_all(session, waiting, _REASON)


def _open(session: Session, subjects: Collection[str]) -> list[int]:
    """Their jobs that wait or run."""
    kinds = (*OF_SUBMISSIONS, runs.KIND)
    query = select(Job.id, Job.kind, Job.subject).where(Job.state.in_(OPEN), Job.kind.in_(kinds))
    found = session.execute(query)
    return [job for job, kind, subject in found if (submission_of(kind, subject) or subject) in subjects]
