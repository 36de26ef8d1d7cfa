"""Commits: what `upload_file`, `upload_folder`, `create_commit` and `delete_file` send."""

from __future__ import annotations

import re
from typing import Any

from apiflask import APIBlueprint
from flask import Response, jsonify, request

from core.errors import AqaError, InvalidInput
from server.access import SUBMITTERS, only
from server.context import services
from server.hub.errors import one_line
from server.hub.landing import land, limits, read
from server.hub.reading import json_object
from server.hub.sight import Sight, address, own
from server.limits import limited
from submissions.repos import store
from submissions.repos.card import read_card
from submissions.repos.errors import RevisionNotFound
from submissions.repos.store import MAIN

bp = APIBlueprint("commits", __name__, url_prefix="/api", enable_openapi=False)


@bp.post("/datasets/<namespace>/<name>/preupload/<revision>")
@only(*SUBMITTERS)
def preupload(namespace: str, name: str, revision: str) -> dict[str, Any]:
    """How each file is to be sent, and which is there already."""
    sent = json_object().get("files")
    if not isinstance(sent, list) or not all(isinstance(file, dict) for file in sent):
        raise InvalidInput("There is no list of files.", "Use the huggingface_hub library.")
    with services().database.reading() as session:
        sight = _target(own(session, namespace, name), revision)
        there = sight.tree(session, store.head(session, sight.repo.id))
    inline = limits(services().settings).inline
    files = []
    for file in sent:
        path, size = str(file.get("path")), file.get("size")
        mode = "lfs" if isinstance(size, int) and size > inline else "regular"
        row = there.get(path)
        oid = None if row is None else row.blob if mode == "lfs" else row.oid
        files.append({"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": oid})
    return {"files": files}


@bp.post("/datasets/<namespace>/<name>/commit/<revision>")
@only(*SUBMITTERS)
@limited("files")
def commit(namespace: str, name: str, revision: str) -> Response:
    """Append a commit; predictions in it are queued as a submission."""
    if request.args.get("create_pr", "") not in ("", "0", "false"):
        raise InvalidInput("There are no pull requests here.", "Commit to main; only your team can see it.")
    with services().database.reading() as session:
        sight = _target(own(session, namespace, name), revision)
    header, steps = read(services(), sight)
    landed = land(services(), sight, header, steps)
    url = f"{_base()}datasets/{sight.id}/commit/{landed.commit.oid}"
    response = jsonify({"success": True, "commitOid": landed.commit.oid, "commitUrl": url})
    if landed.remark:
        # The client shows the first warning of each topic only.
        response.headers["X-HF-Warning"] = f"submission {landed.commit.oid[:12]}; {one_line(landed.remark)}"
    return response


@bp.post("/validate-yaml")
@only()
def validate_yaml() -> tuple[dict[str, Any], int]:
    """Whether the front matter of a README can be read."""
    readme = json_object().get("content")
    try:
        read_card({"README.md": str(readme).encode("utf-8", "replace")}, "system")
    except AqaError as error:
        return {"errors": [{"message": f"{error.message} {error.hint}".strip()}], "warnings": []}, 400
    return {"errors": [], "warnings": []}, 200


def _base() -> str:
    """What a commit's address starts with.

    Clients before 2.0 take the address apart by `HF_ENDPOINT` alone, whatever endpoint they were given, and fail after
    the commit has landed; an address without a host is one that they understand.
    """
    version = re.search(r"\bhf_hub/(\d+)\.", request.user_agent.string)
    return "" if version and int(version[1]) < 2 else f"{address()}/"


def _target(sight: Sight, revision: str) -> Sight:
    if revision != MAIN:
        raise RevisionNotFound(f"There is no branch {revision[:60]!r}.", "Commit to main, the only branch.")
    return sight
