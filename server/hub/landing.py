"""From the lines of a commit's body to a commit, and to the job that takes its predictions in."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from core.blob_keeping import ensure_all
from core.errors import AqaError, InvalidInput, TooLarge
from core.settings import Settings
from core.tables import Repo, RepoCommit, RepoEntry, RepoUpload
from server.bootstrap import Services
from server.hub.reading import json_lines
from server.hub.sight import Sight
from submissions.repos import entering, store
from submissions.repos.card import read_card
from submissions.repos.content import Content, keep
from submissions.repos.names import check_path
from submissions.repos.store import Change, Message, Room

TAKE = "hub-take"
"""The job that takes a commit's predictions in; its subject is `REPO:COMMIT`, two numbers."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a commit says of itself."""

    summary: str
    description: str
    parent: str | None


@dataclass(frozen=True, slots=True)
class Sent:
    """A file whose content was uploaded ahead; `size` is None where the client does not say."""

    path: str
    blob: str
    size: int | None


@dataclass(frozen=True, slots=True)
class Landed:
    """The commit, and what the sender should know of the submission in it."""

    commit: RepoCommit
    remark: str


@dataclass(frozen=True, slots=True)
class Limits:
    """In bytes."""

    file: int
    inline: int
    body: int
    room: Room


def limits(settings: Settings) -> Limits:
    """The limits of uploads under the settings; a body has room for a whole file in base64 and then some."""
    file = settings.max_file_bytes
    inline = min(file, settings.hub_inline_mb * 2**20)
    return Limits(file, inline, 3 * inline + 16 * 2**20, Room(settings.hub_files, settings.hub_repo_mb * 2**20))


def read(services: Services, sight: Sight) -> tuple[Header, list[Change | Sent]]:
    """The body's header and steps; the content of files is stored as it arrives."""
    limit = limits(services.settings)
    header, steps = Header("", "", None), list[Change | Sent]()
    for line in json_lines(limit.inline * 4 // 3 + 2**20, limit.body):
        key, value = line.get("key"), line.get("value")
        if not isinstance(value, dict):
            raise InvalidInput("A line of the commit has no value.", "Use the huggingface_hub library.")
        if key == "header":
            parent = value.get("parentCommit")
            summary = _clean(value.get("summary")) or "Change files"
            header = Header(summary, _clean(value.get("description")), None if parent is None else str(parent))
        else:
            steps.append(_step(services, limit, str(key), value))
        if len(steps) > 2 * limit.room.files:
            raise TooLarge(f"A commit of more than {2 * limit.room.files:,} steps.", "Send several commits.")
    return header, steps


def land(services: Services, sight: Sight, header: Header, steps: Sequence[Change | Sent]) -> Landed:
    """Append the commit and, in the same transaction, queue what it brings. Raises as `store.commit`."""
    message = Message(sight.namespace, header.summary, header.description)
    repo_id, room = sight.repo.id, limits(services.settings).room
    with services.database.transaction() as session:
        session.get_one(Repo, repo_id, with_for_update=True)
        last = store.head(session, repo_id)
        before = store.tree(session, repo_id, last.seq)
        changes = [step if isinstance(step, Change) else _uploaded(session, repo_id, step) for step in steps]
        entering.check_reserved(before, changes)
        made = store.commit(session, repo_id, changes, message, header.parent, room)
        if made.seq == last.seq:
            return Landed(made, "")
        ensure_all(session, services.blobs, [change.content.blob for change in changes if change.content])
        _forget_uploads(session, repo_id, changes)
        after = store.tree(session, repo_id, made.seq)
        remark = ""
        if entering.brought(session, repo_id, before, after):
            remark = _queue(services, session, sight, made, after)
    return Landed(made, remark)


def _queue(services: Services, session: Session, sight: Sight, made: RepoCommit, after: dict[str, RepoEntry]) -> str:
    """Queue the submission unless nothing says what it is for; returns what the sender should know."""
    remark = ""
    try:
        found = read_card(entering.metadata_files(after, services.blobs), sight.repo.name)
        if found is None:
            return "These predictions wait: add system.yaml with the benchmark's id, and they become a submission."
        found.card.check()
        services.benchmarks.get(found.benchmark)
    except AqaError as error:
        remark = f"This will be refused: {error.message} {error.hint}"
    services.queue.add(session, TAKE, f"{sight.repo.id}:{made.seq}")
    return remark


def _step(services: Services, limit: Limits, key: str, value: dict[str, Any]) -> Change | Sent:
    path = check_path(str(value.get("path")).removesuffix("/"))
    if key == "deletedFile":
        return Change(path, None)
    if key == "deletedFolder":
        return Change(path, None, folder=True)
    if key == "lfsFile":
        size = value.get("size")
        return Sent(path, str(value.get("oid")), size if isinstance(size, int) else None)
    if key != "file":
        raise InvalidInput(f"A commit has no step {key[:40]!r}.", "Use the huggingface_hub library.")
    content = str(value.get("content", ""))
    try:
        data = base64.b64decode(content, validate=True) if value.get("encoding") == "base64" else content.encode()
    except (binascii.Error, ValueError):
        raise InvalidInput(f"The content of {path!r} is not base64.", "Use the huggingface_hub library.") from None
    if len(data) > limit.inline:
        raise TooLarge(f"{path!r} is larger than {limit.inline // 2**20:,} MiB.", "Send it compressed with gzip.")
    return Change(path, keep(services.blobs, data))


def _uploaded(session: Session, repo_id: int, sent: Sent) -> Change:
    """The step with the content that this repository got before; knowing a digest is not enough."""
    found = (
        session.get(RepoUpload, (repo_id, sent.blob))
        or session.scalars(
            select(RepoEntry).where(RepoEntry.repo_id == repo_id, RepoEntry.blob == sent.blob).limit(1)
        ).first()
    )
    if found is None or sent.size not in (None, found.size):
        raise InvalidInput(f"The content of {sent.path!r} was not uploaded to this repository.", "Upload it first.")
    return Change(sent.path, Content(found.blob, found.oid, found.size))


def _forget_uploads(session: Session, repo_id: int, changes: Sequence[Change]) -> None:
    blobs = [change.content.blob for change in changes if change.content]
    session.execute(delete(RepoUpload).where(RepoUpload.repo_id == repo_id, RepoUpload.blob.in_(blobs)))


def _clean(text: Any) -> str:
    return str(text or "").replace("\0", "")[:5_000]
