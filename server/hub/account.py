"""Who is asking, and which repositories there are."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response, jsonify, request
from sqlalchemy import select

from core.errors import Conflict, Forbidden, InvalidInput
from core.tables import Repo, RepoEntry, RepoUpload
from server.access import SUBMITTERS, only
from server.context import services, signed_in
from server.deletion import drop_unused
from server.hub.reading import json_object
from server.hub.sight import address, own
from submissions.repos import store
from submissions.repos.names import namespace_of

bp = APIBlueprint("account", __name__, enable_openapi=False)


@bp.get("/api/whoami-v2")
@only()
def whoami() -> dict[str, Any]:
    """The team behind the token, by the name that its repositories stand under."""
    who = signed_in()
    with services().database.transaction() as session:
        name = namespace_of(session, who.team_id)
    role = "write" if who.role in SUBMITTERS else "read"
    return {
        "type": "user",
        "name": name,
        "fullname": who.team,
        "orgs": [],
        "auth": {"type": "access_token", "accessToken": {"displayName": "team token", "role": role}},
    }


@bp.get("/api/datasets")
@only()
def listed() -> Response:
    """The team's own repositories."""
    who = signed_in()
    with services().database.transaction() as session:
        name = namespace_of(session, who.team_id)
        repos = session.scalars(select(Repo).where(Repo.team_id == who.team_id).order_by(Repo.name)).all()
    asked = request.args.get("author", name)
    return jsonify([{"id": f"{name}/{repo.name}", "author": name} for repo in repos if asked == name])


@bp.post("/api/repos/create")
@only(*SUBMITTERS)
def create() -> tuple[dict[str, str], int]:
    """Make a repository; it stays private until what is in it is published."""
    sent, who = json_object(), signed_in()
    _check_kind(sent)
    with services().database.transaction() as session:
        namespace = namespace_of(session, who.team_id)
        _check_namespace(sent, namespace)
        name = str(sent.get("name"))
        url = f"{address()}/datasets/{namespace}/{name}"
        try:
            store.create(session, who.team_id, name, namespace)
        except Conflict as conflict:
            return {"url": url, "error": conflict.message}, 409
    return {"url": url, "name": f"{namespace}/{name}"}, 200


@bp.delete("/api/repos/delete")
@only(*SUBMITTERS)
def delete() -> dict[str, bool]:
    """Delete a repository; the submissions that came from it stay."""
    sent, who = json_object(), signed_in()
    _check_kind(sent)
    with services().database.transaction() as session:
        namespace = namespace_of(session, who.team_id)
        repo = own(session, str(sent.get("organization") or namespace), str(sent.get("name"))).repo
        blobs = set(session.scalars(select(RepoEntry.blob).where(RepoEntry.repo_id == repo.id)))
        blobs |= set(session.scalars(select(RepoUpload.blob).where(RepoUpload.repo_id == repo.id)))
        session.delete(repo)
    drop_unused(services(), blobs)
    return {"deleted": True}


def _check_kind(sent: dict[str, Any]) -> None:
    if sent.get("type") != "dataset":
        raise InvalidInput("Only dataset repositories live here.", "Pass repo_type='dataset'.")


def _check_namespace(sent: dict[str, Any], namespace: str) -> None:
    wanted = sent.get("organization") or namespace
    if wanted != namespace:
        raise Forbidden(
            f"Your repositories stand under {namespace!r}, not under {str(wanted)[:100]!r}.",
            f"Call it {namespace}/{str(sent.get('name'))[:100]}.",
        )
