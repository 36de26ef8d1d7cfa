"""Commits and trees: pure functions on a session, which the caller commits."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from core.errors import Conflict, InvalidInput, TooLarge
from core.tables import Repo, RepoCommit, RepoEntry
from submissions.repos.content import Content
from submissions.repos.errors import EntryNotFound, RevisionNotFound, StaleParent
from submissions.repos.names import check_name, check_path

MAIN = "main"
_SHORTEST_OID = 7


@dataclass(frozen=True, slots=True)
class Change:
    """One step of a commit: a file's new content, or None to remove the file, or all files under a `folder`."""

    path: str
    content: Content | None
    folder: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """Who commits and why."""

    author: str
    summary: str
    description: str = ""
    by_service: bool = False
    submission_id: str | None = None


@dataclass(frozen=True, slots=True)
class Room:
    """The most that a repository may hold: files at once, and bytes over all its history."""

    files: int
    size: int


def create(session: Session, team_id: int, name: str, author: str) -> Repo:
    """A new repository with a first, empty commit. Raises `Conflict` where the team has one of that name."""
    check_name(name)
    if find(session, team_id, name) is not None:
        raise Conflict(f"You already created this dataset repo: {name}.", "Use it, or choose another name.")
    repo = Repo(team_id=team_id, name=name)
    session.add(repo)
    session.flush()
    _append(session, repo, None, Message(author, "Start the repository"))
    return repo


def find(session: Session, team_id: int, name: str) -> Repo | None:
    """The team's repository of that name."""
    return session.scalars(select(Repo).where(Repo.team_id == team_id, Repo.name == name)).first()


def head(session: Session, repo_id: int) -> RepoCommit:
    """The newest commit."""
    newest = select(RepoCommit).where(RepoCommit.repo_id == repo_id).order_by(RepoCommit.seq.desc()).limit(1)
    return session.scalars(newest).one()


def resolve(session: Session, repo_id: int, revision: str) -> RepoCommit:
    """The commit of `main`, of a whole oid or of its first seven or more digits. Raises `RevisionNotFound`."""
    if revision in (MAIN, "HEAD", f"refs/heads/{MAIN}"):
        return head(session, repo_id)
    of_repo = select(RepoCommit).where(RepoCommit.repo_id == repo_id)
    found: Sequence[RepoCommit] = []
    if _SHORTEST_OID <= len(revision) <= 40 and set(revision) <= set("0123456789abcdef"):
        found = session.scalars(of_repo.where(RepoCommit.oid.startswith(revision)).limit(2)).all()
    if len(found) != 1:
        raise RevisionNotFound(
            f"There is no revision {revision[:60]!r}.", "Use main or a commit's oid; there are no other branches."
        )
    return found[0]


def tree(session: Session, repo_id: int, seq: int) -> dict[str, RepoEntry]:
    """The files at a commit, by path in order."""
    rows = session.scalars(
        select(RepoEntry).where(
            RepoEntry.repo_id == repo_id,
            RepoEntry.added <= seq,
            or_(RepoEntry.removed.is_(None), RepoEntry.removed > seq),
        )
    )
    return {row.path: row for row in sorted(rows, key=lambda row: row.path)}


def commit(
    session: Session,
    repo_id: int,
    changes: Sequence[Change],
    message: Message,
    parent: str | None = None,
    room: Room | None = None,
) -> RepoCommit:
    """Apply the changes in their order and append a commit; without any difference the head is returned as it is.

    Concurrent commits wait for each other. Raises `StaleParent` if `parent` (an oid or its beginning) is not the
    head, `EntryNotFound` for a removal of what is not there, `InvalidInput` for paths and `TooLarge` for `room`.
    """
    repo = session.get_one(Repo, repo_id, with_for_update=True)
    last = head(session, repo_id)
    if parent is not None and not (len(parent) >= _SHORTEST_OID and last.oid.startswith(parent)):
        raise StaleParent(
            f"The repository has moved on: its head is {last.oid}, not {parent[:40]}.",
            "Fetch the newest state and commit again on top of it.",
        )
    before = tree(session, repo_id, last.seq)
    after = _applied({path: Content(row.blob, row.oid, row.size) for path, row in before.items()}, changes)
    gone = [row for path, row in before.items() if path not in after or after[path].blob != row.blob]
    new = {path: content for path, content in after.items() if path not in before or before[path].blob != content.blob}
    if not gone and not new:
        return last
    _check_tree(after)
    if room is not None:
        _check_room(session, repo_id, after, new, room)
    made = _append(session, repo, last, message, sorted(f"{path}\0{content.blob}" for path, content in after.items()))
    for row in gone:
        row.removed = made.seq
    session.add_all(
        RepoEntry(repo_id=repo_id, path=path, added=made.seq, blob=content.blob, oid=content.oid, size=content.size)
        for path, content in new.items()
    )
    session.flush()
    return made


def _applied(files: dict[str, Content], changes: Sequence[Change]) -> dict[str, Content]:
    for change in changes:
        path = check_path(change.path)
        if change.content is not None:
            files[path] = change.content
            continue
        gone = [each for each in files if (each.startswith(f"{path}/") if change.folder else each == path)]
        if not gone:
            # Clients look for these words.
            raise EntryNotFound(f"A file with this name doesn't exist: {path}", "List the files of the repository.")
        for each in gone:
            del files[each]
    return files


def _check_tree(files: Mapping[str, Content]) -> None:
    for path in files:
        parts = path.split("/")
        if clash := next((up for n in range(1, len(parts)) if (up := "/".join(parts[:n])) in files), None):
            raise InvalidInput(f"{clash!r} would be a file and a folder at once.", f"Rename {path!r} or {clash!r}.")


def _check_room(
    session: Session, repo_id: int, after: Mapping[str, Content], new: Mapping[str, Content], room: Room
) -> None:
    if len(after) > room.files:
        raise TooLarge(f"A repository may hold {room.files:,} files; this commit would make {len(after):,}.", "")
    held = session.scalar(select(func.sum(RepoEntry.size)).where(RepoEntry.repo_id == repo_id)) or 0
    wanted = held + sum(content.size for content in new.values())
    if wanted > room.size:
        raise TooLarge(
            f"A repository may hold {room.size // 2**20:,} MiB over its history; this commit would make it "
            f"{wanted / 2**20:,.1f} MiB.",
            "Start a new repository for the next versions.",
        )


def _append(
    session: Session, repo: Repo, parent: RepoCommit | None, message: Message, files: Sequence[str] = ()
) -> RepoCommit:
    # The random part keeps the same change made twice apart, as git's times do.
    parts = [parent.oid if parent else "", secrets.token_hex(8), message.author, message.summary, *files]
    oid = hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:40]
    made = RepoCommit(
        repo_id=repo.id,
        seq=parent.seq + 1 if parent else 0,
        oid=oid,
        author=message.author,
        summary=message.summary,
        description=message.description,
        by_service=message.by_service,
        submission_id=message.submission_id,
    )
    session.add(made)
    session.flush()
    return made
