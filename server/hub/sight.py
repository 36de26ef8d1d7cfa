"""What the sender of a request may see of a repository, and whether they may change it."""

from __future__ import annotations

from dataclasses import dataclass

from flask import g, request
from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import Forbidden
from core.tables import Repo, RepoCommit, RepoEntry, Submission
from core.tables.base import utc_now
from server.auth import Identity
from server.context import identity, services, signed_in
from submissions.repos import store
from submissions.repos.entering import OUTPUTS, is_predictions
from submissions.repos.errors import RepoNotFound, RevisionNotFound
from submissions.repos.names import team_of


@dataclass(frozen=True)
class Shown:
    """A commit that everybody may see, since what it became is on the board."""

    commit: RepoCommit
    source: int
    """The commit that the submission came with: what was added later stays private."""
    predictions: str
    """The blob of the published predictions."""

    def lets_see(self, path: str, row: RepoEntry) -> bool:
        """True for the published predictions, what stood beside them, and their own scored outputs."""
        if path in OUTPUTS:
            return self.commit.by_service
        return row.added <= self.source and (not is_predictions(path) or row.blob == self.predictions)


@dataclass(frozen=True)
class Sight:
    """A repository as one sender sees it."""

    repo: Repo
    namespace: str
    whole: bool
    """True for the team's own and for maintainers."""
    shown: tuple[Shown, ...]
    """The commits that everybody may see, oldest first."""

    @property
    def id(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.repo.name}"

    def resolve(self, session: Session, revision: str) -> RepoCommit:
        """The commit of a revision; for others than the team, `main` is what is on the board."""
        if self.whole:
            found = store.resolve(session, self.repo.id, revision)
        elif revision in (store.MAIN, "HEAD"):
            found = self.shown[-1].commit
        else:
            found = store.resolve(session, self.repo.id, revision)
            if found.seq not in {each.commit.seq for each in self.shown}:
                raise RevisionNotFound(f"There is no revision {revision[:60]!r}.", "Use main or a commit's oid.")
        g.commit_oid = found.oid
        return found

    def tree(self, session: Session, commit: RepoCommit) -> dict[str, RepoEntry]:
        """The files of a commit that the sender may see."""
        files = store.tree(session, self.repo.id, commit.seq)
        if self.whole:
            return files
        shown = next(each for each in self.shown if each.commit.seq == commit.seq)
        return {path: row for path, row in files.items() if shown.lets_see(path, row)}


def look(session: Session, namespace: str, name: str) -> Sight:
    """The repository, if the sender may see any of it. Raises `RepoNotFound` for missing and private ones alike."""
    who = identity()
    team_id = team_of(session, namespace)
    repo = store.find(session, team_id, name) if team_id is not None else None
    if repo is not None:
        sight = Sight(repo, namespace, _owned(repo, who), _shown(session, repo))
        if sight.whole or sight.shown:
            return sight
    raise RepoNotFound(
        f"There is no repository {namespace[:100]}/{name[:100]}, or it is not yours to see.",
        "Check the name and the token.",
    )


def own(session: Session, namespace: str, name: str) -> Sight:
    """The same for a change. Raises `Forbidden` for a repository that can be seen but is another team's."""
    who, sight = signed_in(), look(session, namespace, name)
    if sight.repo.team_id != who.team_id:
        raise Forbidden(f"{sight.id} belongs to another team.", "Send changes with a token of that team.")
    return sight


def address() -> str:
    """Where the client reached this endpoint; links in answers start with it."""
    return f"{services().settings.public_url.rstrip('/') or request.host_url.rstrip('/')}/hub"


def _owned(repo: Repo, who: Identity | None) -> bool:
    return who is not None and (who.maintainer or repo.team_id == who.team_id)


def _shown(session: Session, repo: Repo) -> tuple[Shown, ...]:
    if repo.team.shown(utc_now()) != repo.team.name:
        return ()  # the address would tell who stands behind an alias
    rows = session.execute(
        select(RepoCommit, Submission.id, Submission.file_blob)
        .join(Submission, Submission.id == RepoCommit.submission_id)
        .where(RepoCommit.repo_id == repo.id, Submission.on_board)
        .order_by(RepoCommit.seq)
    ).all()
    sources = {submission: commit.seq for commit, submission, _ in rows if not commit.by_service}
    return tuple(Shown(commit, sources[of], blob) for commit, of, blob in rows if of in sources)
