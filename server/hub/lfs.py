"""Large files by the Git LFS batch protocol: asked for, sent to a signed address, then named in a commit."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, BinaryIO, cast

from apiflask import APIBlueprint
from flask import Response, current_app, jsonify, request
from itsdangerous import BadSignature, URLSafeTimedSerializer
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from core.blob_keeping import ensure
from core.errors import Forbidden, InvalidInput
from core.tables import Repo, RepoEntry, RepoUpload
from core.tables.base import utc_now
from server.access import SUBMITTERS, only, public
from server.context import services
from server.deletion import drop_unused
from server.hub.landing import Limits, limits
from server.hub.reading import json_object
from server.hub.sight import address, own
from submissions.repos.content import keep_stream
from submissions.repos.errors import EntryNotFound, RepoNotFound

bp = APIBlueprint("lfs", __name__, enable_openapi=False)
_SECONDS = 2 * 3600
_KEPT = timedelta(days=1)
_MOST = 1_000
_SHA256 = re.compile(r"[0-9a-f]{64}")


@bp.post("/datasets/<namespace>/<name>.git/info/lfs/objects/batch")
@only(*SUBMITTERS)
def batch(namespace: str, name: str) -> Response:
    """Where to send each object; those that the repository has need not be sent."""
    sent = json_object()
    if sent.get("operation") != "upload" or sent.get("hash_algo", "sha256") != "sha256":
        raise InvalidInput("Only uploads named by sha256 are known here.", "Download files by their resolve address.")
    objects = sent.get("objects")
    if not isinstance(objects, list) or len(objects) > _MOST or not all(isinstance(each, dict) for each in objects):
        raise InvalidInput(f"There is no list of at most {_MOST:,} objects.", "Use the huggingface_hub library.")
    limit = limits(services().settings)
    with services().database.transaction() as session:
        sight = own(session, namespace, name)
        repo_id, answers = sight.repo.id, []
        late = _forget_late(session, repo_id)
        free = _free(session, repo_id, limit)
        for each in objects:
            answer, takes = _answer(session, repo_id, sight.id, each, limit, free)
            answers.append(answer)
            free -= takes
    drop_unused(services(), late)
    response = jsonify({"transfer": "basic", "objects": answers})
    response.mimetype = "application/vnd.git-lfs+json"
    return response


@bp.put("/lfs/<ticket>")
@public
def upload(ticket: str) -> dict[str, bool]:
    """Take an object in; the address itself is the permission, as clients send no token here."""
    repo_id, blob, size = _read(ticket)
    request.max_content_length = size + 1  # reading at the limit itself counts as passing it
    with services().database.reading() as session:
        if session.get(Repo, repo_id) is None:
            raise RepoNotFound("The repository is gone.", "Create it again.")
    content = keep_stream(services().blobs, cast(BinaryIO, request.stream), blob, size)
    with services().database.transaction() as session:
        session.get_one(Repo, repo_id, with_for_update=True)
        session.merge(RepoUpload(repo_id=repo_id, blob=blob, oid=content.oid, size=size, created_at=utc_now()))
        ensure(session, services().blobs, blob)
    return {"success": True}


@bp.post("/datasets/<namespace>/<name>.git/info/lfs/objects/verify")
@only(*SUBMITTERS)
def verify(namespace: str, name: str) -> dict[str, bool]:
    """Whether an object arrived whole."""
    sent = json_object()
    with services().database.reading() as session:
        found = _size(session, own(session, namespace, name).repo.id, str(sent.get("oid")))
    if found is None or found != sent.get("size"):
        raise EntryNotFound("The object did not arrive.", "Upload it again.")
    return {"success": True}


def _answer(
    session: Session, repo_id: int, repo: str, asked: dict[str, Any], limit: Limits, free: int
) -> tuple[dict[str, Any], int]:
    """The answer for one object, and the bytes that it will take."""
    oid, size = asked.get("oid"), asked.get("size")
    if not isinstance(oid, str) or not _SHA256.fullmatch(oid) or not isinstance(size, int) or size < 0:
        raise InvalidInput("An object has no sha256 or no size.", "Use the huggingface_hub library.")
    known = {"oid": oid, "size": size}
    if _size(session, repo_id, oid) == size:
        return known, 0
    if size > limit.file or size > free:
        most = limit.file if size > limit.file else max(free, 0)
        message = f"The file has {size / 2**20:,.1f} MiB; there is room for {most / 2**20:,.1f} MiB."
        return known | {"error": {"code": 413, "message": message}}, 0
    base = f"{address()}/datasets/{repo}.git/info/lfs/objects/verify"
    put = {"href": f"{address()}/lfs/{_signer().dumps([repo_id, oid, size])}", "expires_in": _SECONDS}
    return known | {"authenticated": True, "actions": {"upload": put, "verify": {"href": base}}}, size


def _forget_late(session: Session, repo_id: int) -> list[str]:
    """Forget what was sent and not committed for a day; returns the blobs."""
    late = (RepoUpload.repo_id == repo_id, RepoUpload.created_at < utc_now() - _KEPT)
    blobs = list(session.scalars(select(RepoUpload.blob).where(*late)))
    session.execute(delete(RepoUpload).where(*late))
    return blobs


def _free(session: Session, repo_id: int, limit: Limits) -> int:
    """Bytes that the repository has room for."""
    held = select(func.sum(RepoEntry.size)).where(RepoEntry.repo_id == repo_id)
    sent = select(func.sum(RepoUpload.size)).where(RepoUpload.repo_id == repo_id)
    return limit.room.size - int(session.scalar(held) or 0) - int(session.scalar(sent) or 0)


def _size(session: Session, repo_id: int, blob: str) -> int | None:
    upload = session.get(RepoUpload, (repo_id, blob))
    if upload is not None:
        return upload.size
    return session.scalar(select(RepoEntry.size).where(RepoEntry.repo_id == repo_id, RepoEntry.blob == blob).limit(1))


def _signer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(current_app.secret_key or "", salt="lfs-upload")


def _read(ticket: str) -> tuple[int, str, int]:
    try:
        repo_id, blob, size = _signer().loads(ticket, max_age=_SECONDS)
    except BadSignature:
        raise Forbidden("This upload address is not valid or not valid any more.", "Start the upload again.") from None
    return repo_id, blob, size
