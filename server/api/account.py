"""Who the token belongs to, its sister tokens, and the name that others read."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint

from core.tables import Team, Token
from core.tables.base import utc_now
from server import teams
from server.access import only, public
from server.addresses import number
from server.api.account_schemas import AliasIn, MeOut, NewTokenOut, SecretOut, TeamIn, TokenIn, TokenOut, TokensOut
from server.api.documents import answers
from server.context import services, signed_in
from server.limits import limited
from submissions import quotas

bp = APIBlueprint("account", __name__, tag="Account")


@bp.post("/register")
@limited("register")
@public
@bp.input(TeamIn)
@bp.output(SecretOut, status_code=201)
@answers(bp, 400, 403, 409, 413, token=False)
def register(json_data: dict[str, str]) -> dict[str, str]:
    """Make a team and its first token, where registration is open"""
    with services().database.transaction() as session:
        token = teams.register(session, services().settings, json_data["team"])
    return {"team": " ".join(json_data["team"].split()), "token": token}


@bp.get("/me")
@only()
@bp.output(MeOut)
@answers(bp)
def me() -> dict[str, Any]:
    """The team and role of the token"""
    return _me()


@bp.put("/me/alias")
@only()
@bp.input(AliasIn)
@bp.output(MeOut)
@answers(bp, 400, 409, 413)
def hide(json_data: dict[str, Any]) -> dict[str, Any]:
    """Have others read another name until a time, at most a year away"""
    with services().database.transaction() as session:
        teams.hide(session, signed_in().team_id, json_data["alias"], json_data["until"])
    return _me()


@bp.delete("/me/alias")
@only()
@bp.output(MeOut)
@answers(bp)
def show() -> dict[str, Any]:
    """Have others read the team's own name again"""
    with services().database.transaction() as session:
        teams.show(session, signed_in().team_id)
    return _me()


@bp.get("/tokens")
@only()
@bp.output(TokensOut)
@answers(bp)
def tokens() -> dict[str, list[Token]]:
    """The team's tokens, without their texts"""
    with services().database.reading() as session:
        return {"tokens": teams.tokens(session, signed_in())}


@bp.post("/tokens")
@only()
@bp.input(TokenIn)
@bp.output(NewTokenOut, status_code=201)
@answers(bp, 400, 409, 413)
def new_token(json_data: dict[str, Any]) -> dict[str, Any]:
    """Another token of the same team and role; its text is shown this once"""
    days = services().settings.token_days if json_data["days"] is None else json_data["days"]
    with services().database.transaction() as session:
        row, secret = teams.make_token(session, signed_in(), json_data["label"], days)
    return {name: getattr(row, name) for name in TokenOut().fields} | {"token": secret}


@bp.post("/tokens/<token_id>/revoke")
@only()
@bp.output(TokenOut)
@answers(bp, 404)
def revoke(token_id: str) -> Token:
    """End one of the team's tokens at once"""
    with services().database.transaction() as session:
        return teams.revoke_token(session, signed_in(), number(token_id, "token"))


def _me() -> dict[str, Any]:
    who = signed_in()
    with services().database.reading() as session:
        team = session.get_one(Team, who.team_id)
        used = quotas.used_today(session, who.team_id)
    return {
        "team": who.team,
        "role": who.role,
        "token_id": who.token_id,
        "alias": team.alias if team.shown(utc_now()) != team.name else None,
        "alias_until": team.alias_until if team.shown(utc_now()) != team.name else None,
        "submissions_today": used,
        "submissions_per_day": services().settings.submissions_per_day,
    }
