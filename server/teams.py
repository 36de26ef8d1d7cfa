"""A team's own affairs: signing up, its tokens, and the name that the board shows."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from core.errors import Conflict, Forbidden, InvalidInput, NotFound
from core.settings import Settings
from core.tables import Team, Token
from core.tables.base import utc_now
from server import auth
from server.auth import Identity

MOST_TOKENS = 50
LONGEST_ALIAS = timedelta(days=366)


def register(session: Session, settings: Settings, name: str) -> str:
    """Make a team of the name and its first token, returned this once.

    Raises `Forbidden` where a maintainer makes the teams, and as `auth.add_team`.
    """
    if not settings.open_registration:
        raise Forbidden("Registration is closed here.", "Ask a maintainer for a team and its token.")
    return auth.new_token(session, auth.add_team(session, name), "team", settings.token_days, "first token")


def tokens(session: Session, who: Identity) -> list[Token]:
    """The tokens of the asker's team, newest first."""
    return list(session.scalars(select(Token).where(Token.team_id == who.team_id).order_by(Token.id.desc())))


def make_token(session: Session, who: Identity, label: str, days: int) -> tuple[Token, str]:
    """Another token with the asker's team and role, and its text, returned this once.

    Raises `InvalidInput`, and `Conflict` where the team has too many that work.
    """
    team = session.get_one(Team, who.team_id, with_for_update=True)
    alive = [row for row in tokens(session, who) if works(row)]
    if len(alive) >= MOST_TOKENS:
        raise Conflict(f"The team has {MOST_TOKENS} tokens that work.", "Revoke one that is not needed any more.")
    secret = auth.new_token(session, team, who.role, days, " ".join(label.split()))
    return session.scalars(select(Token).where(Token.digest == auth.digest(secret))).one(), secret


def revoke_token(session: Session, who: Identity, token_id: int) -> Token:
    """End a token of the asker's team. Raises `NotFound`, for another team's as well."""
    row = session.get(Token, token_id) if abs(token_id) < 2**31 else None
    if row is None or row.team_id != who.team_id:
        raise NotFound(f"Your team has no token {token_id}.", "List them to see their numbers.")
    auth.revoke(session, token_id)
    return row


def works(token: Token) -> bool:
    """True until a token is revoked or has expired."""
    return token.revoked_at is None and (token.expires_at is None or token.expires_at > utc_now())


def hide(session: Session, team_id: int, alias: str, until: datetime) -> Team:
    """Show another name in place of the team's until a time.

    Raises `InvalidInput` for a bad name or a time that is past or too far, `Conflict` for a name that is taken.
    """
    alias, now = auth.checked_name(alias), utc_now()
    if not now < until <= now + LONGEST_ALIAS:
        raise InvalidInput(
            "A team's name can be hidden for up to a year from now.", "Give a later day, at most a year away."
        )
    taken = select(Team.id).where(or_(Team.name == alias, Team.alias == alias), Team.id != team_id)
    team = session.get_one(Team, team_id, with_for_update=True)
    if session.scalar(taken) is not None or team.name == alias:
        raise Conflict(f"The name {alias!r} is taken.", "Choose another one.")
    team.alias, team.alias_until = alias, until
    return team


def show(session: Session, team_id: int) -> Team:
    """Show the team's own name again."""
    team = session.get_one(Team, team_id, with_for_update=True)
    team.alias = team.alias_until = None
    return team
