"""What is in a repository: its state, files and history."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from apiflask import APIBlueprint
from flask import Response, jsonify, request
from sqlalchemy import select
from sqlalchemy.orm import Session

from core.tables import RepoCommit, RepoEntry
from server.access import public
from server.context import services
from server.hub.reading import json_object
from server.hub.sight import Sight, address, look
from submissions.repos import store
from submissions.repos.errors import EntryNotFound

bp = APIBlueprint("listing", __name__, url_prefix="/api/datasets/<namespace>/<name>", enable_openapi=False)
_PAGE = 1_000


@bp.get("")
@bp.get("/revision/<revision>")
@public
def info(namespace: str, name: str, revision: str = store.MAIN) -> dict[str, Any]:
    """The repository at a revision, with the names of its files."""
    with services().database.reading() as session:
        sight = look(session, namespace, name)
        commit = sight.resolve(session, revision)
        files = sight.tree(session, commit)
    return {
        "id": sight.id,
        "author": namespace,
        "sha": commit.oid,
        "private": not sight.shown,
        "gated": False,
        "disabled": False,
        "createdAt": _time(sight.repo.created_at),
        "lastModified": _time(commit.created_at),
        "tags": [],
        "downloads": 0,
        "likes": 0,
        "usedStorage": sum(row.size for row in files.values()),
        "siblings": [
            {"rfilename": path} | ({"size": row.size, "blobId": row.oid} if "blobs" in request.args else {})
            for path, row in files.items()
        ],
    }


@bp.get("/tree/<revision>")
@bp.get("/tree/<revision>/<path:folder>")
@public
def tree(namespace: str, name: str, revision: str, folder: str = "") -> Response:
    """Files and folders below a folder, in pages that a Link header joins."""
    with services().database.reading() as session:
        sight = look(session, namespace, name)
        commit = sight.resolve(session, revision)
        files = sight.tree(session, commit)
        below = f"{folder.strip('/')}/" if folder.strip("/") else ""
        if below and not any(path.startswith(below) for path in files):
            raise EntryNotFound(f"There is no folder {folder[:100]!r}.", "List the files of the repository.")
        entries = _entries(files, below, _flag("recursive"))
        after = request.args.get("cursor", "")
        page = [entry for entry in entries if entry["path"] > after]
        if _flag("expand"):
            _expand(session, sight, page[:_PAGE], files)
    response = jsonify(page[:_PAGE])
    if len(page) > _PAGE:
        query = request.args.copy()
        query["cursor"] = page[_PAGE - 1]["path"]
        here = f"{address()}{request.path.removeprefix('/hub')}"
        response.headers["Link"] = f'<{here}?{_query(query)}>; rel="next"'
    return response


@bp.post("/paths-info/<revision>")
@public
def paths_info(namespace: str, name: str, revision: str) -> Response:
    """What stands at some paths; those where nothing stands are left out."""
    if request.is_json:
        sent = json_object()
        paths, expand = sent.get("paths"), bool(sent.get("expand"))
    else:
        paths, expand = request.form.getlist("paths"), request.form.get("expand", "").lower() == "true"
    wanted = {str(path).strip("/") for path in (paths if isinstance(paths, list) else [paths])}
    with services().database.reading() as session:
        sight = look(session, namespace, name)
        files = sight.tree(session, sight.resolve(session, revision))
        found = [entry for entry in _entries(files, "", True) if entry["path"] in wanted]
        if expand:
            _expand(session, sight, found, files)
    return jsonify(found)


@bp.get("/commits/<revision>")
@public
def commits(namespace: str, name: str, revision: str) -> Response:
    """The history, newest first."""
    with services().database.reading() as session:
        sight = look(session, namespace, name)
        last = sight.resolve(session, revision)
        if sight.whole:
            of_repo = select(RepoCommit).where(RepoCommit.repo_id == sight.repo.id, RepoCommit.seq <= last.seq)
            found = list(session.scalars(of_repo.order_by(RepoCommit.seq.desc())))
        else:
            found = [each.commit for each in reversed(sight.shown) if each.commit.seq <= last.seq]
    return jsonify(
        [
            {
                "id": commit.oid,
                "title": commit.summary,
                "message": commit.description,
                "date": _time(commit.created_at),
                "authors": [{"user": commit.author}],
            }
            for commit in found
        ]
    )


@bp.get("/refs")
@public
def refs(namespace: str, name: str) -> dict[str, Any]:
    """The one branch."""
    with services().database.reading() as session:
        oid = look(session, namespace, name).resolve(session, store.MAIN).oid
    branch = {"name": store.MAIN, "ref": f"refs/heads/{store.MAIN}", "targetCommit": oid}
    return {"branches": [branch], "converts": [], "tags": [], "pullRequests": []}


def _entries(files: dict[str, RepoEntry], below: str, recursive: bool) -> list[dict[str, Any]]:
    """Files and the folders that they imply, by path."""
    found: dict[str, dict[str, Any]] = {}
    for path, row in files.items():
        if not path.startswith(below):
            continue
        parts = path[len(below) :].split("/")
        for depth in range(1, len(parts) if recursive else min(len(parts), 2)):
            up = below + "/".join(parts[:depth])
            found[up] = {"type": "directory", "path": up, "oid": row.oid, "size": 0}
        if recursive or len(parts) == 1:
            found[path] = {"type": "file", "path": path, "oid": row.oid, "size": row.size}
    return [found[path] for path in sorted(found)]


def _expand(session: Session, sight: Sight, page: Iterable[dict[str, Any]], files: dict[str, RepoEntry]) -> None:
    for entry in page:
        if entry["type"] != "file":
            continue
        commit = session.get_one(RepoCommit, (sight.repo.id, files[entry["path"]].added))
        entry["lastCommit"] = {"id": commit.oid, "title": commit.summary, "date": _time(commit.created_at)}


def _flag(name: str) -> bool:
    return request.args.get(name, "").lower() in ("true", "1")


def _query(query: Any) -> str:
    return urlencode(list(query.items(multi=True)))


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
