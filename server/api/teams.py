"""Teams and the audit log; for maintainers."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from sqlalchemy import select

from core.errors import Conflict
from core.tables import Team
from server import audit_log, auth
from server.access import SUBMITTERS, only
from server.addresses import number
from server.api.account_schemas import DeletedOut, LogOut, LogQuery, NewTeamIn, SecretOut, TeamsOut
from server.api.documents import answers
from server.audit_log import Wanted
from server.context import services, signed_in
from server.deletion import Deleted, delete_team

bp = APIBlueprint("teams", __name__, tag="Maintenance")


@bp.get("/teams")
@only("maintainer")
@bp.output(TeamsOut)
@answers(bp, 403)
def listed() -> dict[str, Any]:
    """All teams"""
    with services().database.reading() as session:
        return {"teams": list(session.scalars(select(Team).order_by(Team.name)))}


@bp.post("/teams")
@only("maintainer")
@bp.input(NewTeamIn)
@bp.output(SecretOut, status_code=201)
@answers(bp, 400, 403, 409, 413)
def add(json_data: dict[str, str]) -> dict[str, str]:
    """Make a team and its first token, whose text is shown this once"""
    with services().database.transaction() as session:
        team = auth.add_team(session, json_data["team"])
        token = auth.new_token(session, team, json_data["role"], services().settings.token_days, "first token")
    return {"team": team.name, "token": token}


@bp.delete("/teams/<team_id>")
@only("maintainer")
@bp.output(DeletedOut)
@answers(bp, 403, 404, 409)
def delete(team_id: str) -> Deleted:
    """Delete a team with everything that is its own, for ever"""
    identifier = number(team_id, "team")
    if identifier == signed_in().team_id:
        raise Conflict("This is the team of the token that asks.", "Use another maintainer's token.")
    return delete_team(services(), identifier)


@bp.get("/audit")
@only(*SUBMITTERS)
@bp.input(LogQuery, location="query")
@bp.output(LogOut)
@answers(bp, 400, 403)
def audit(query_data: dict[str, Any]) -> dict[str, Any]:
    """Who did what, newest first; go on with `before`, the last event's id

    A team reads what it did and what was done to its own; maintainers read all.
    """
    with services().database.reading() as session:
        return {"events": audit_log.log(session, Wanted(**query_data), signed_in())}
