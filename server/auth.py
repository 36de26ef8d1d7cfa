"""Teams, their bearer tokens and what a token lets its bearer do; only a token's sha256 is ever stored."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from core.errors import Conflict, InvalidInput, NotFound, NotSignedIn
from core.tables import Team, Token
from core.tables.base import utc_now

ROLES = ("team", "rater", "maintainer")
PREFIX = "aqa_"
MOST_DAYS = 3_650


@dataclass(frozen=True)
class Identity:
    """Who sent a request: a team, by one of its tokens."""

    team_id: int
    team: str
    role: str
    token_id: int

    @property
    def maintainer(self) -> bool:
        """True for those who look after the service."""
        return self.role == "maintainer"

    @property
    def owner_id(self) -> int | None:
        """The team whose entries may be changed; None means any, for maintainers."""
        return None if self.maintainer else self.team_id


def add_team(session: Session, name: str) -> Team:
    """Store a team. Raises `InvalidInput` for a bad name and `Conflict` for one that is taken."""
    name = checked_name(name)
    if session.scalar(select(Team.id).where(or_(Team.name == name, Team.alias == name))) is not None:
        raise Conflict(f"There is a team {name!r} already.", "Choose another name, or make a token for that team.")
    team = Team(name=name)
    session.add(team)
    session.flush()
    return team


def checked_name(name: str) -> str:
    """A team's name with its blanks in order. Raises `InvalidInput`."""
    name = " ".join(name.split())
    if not name or len(name) > 80 or not name.isprintable():
        raise InvalidInput("A team needs a name of 1 to 80 characters that can be printed.", "Choose another name.")
    return name


def find_team(session: Session, name: str) -> Team:
    """The team of that name. Raises `NotFound`."""
    team = session.scalars(select(Team).where(Team.name == " ".join(name.split()))).first()
    if team is None:
        raise NotFound(f"There is no team {name!r}.", "Make it with: aqa team add NAME")
    return team


def found_or_added_team(session: Session, name: str) -> Team:
    """The team of that name, made at its first use. Raises as `add_team`."""
    try:
        return find_team(session, name)
    except NotFound:
        return add_team(session, name)


def new_token(session: Session, team: Team | str, role: str = "team", days: int = 0, label: str = "") -> str:
    """A fresh token for a team (or its name), returned this once; `days` 0 means that it never expires."""
    if role not in ROLES:
        raise InvalidInput(f"There is no role {role!r}.", f"Roles: {', '.join(ROLES)}.")
    if not 0 <= days <= MOST_DAYS:
        raise InvalidInput("A token cannot expire then.", f"Give 1 to {MOST_DAYS:,} days, or 0 for never.")
    if len(label) > 80 or not label.isprintable():
        raise InvalidInput("A token's label has at most 80 characters that can be printed.", "Choose a shorter one.")
    found = find_team(session, team) if isinstance(team, str) else team
    token = PREFIX + secrets.token_urlsafe(32)
    expires_at = utc_now() + timedelta(days=days) if days else None
    session.add(Token(team_id=found.id, role=role, digest=digest(token), expires_at=expires_at, label=label))
    session.flush()
    return token


def verify(session: Session, token: str) -> Identity:
    """Who the bearer of a token is. Raises `NotSignedIn` for one that is unknown, expired or revoked."""
    return _identity(session.scalars(select(Token).where(Token.digest == digest(token.strip()))).first())


def verify_id(session: Session, token_id: int) -> Identity:
    """The same by the token's id, as a signed session cookie holds it."""
    return _identity(session.get(Token, token_id))


def revoke(session: Session, token_id: int) -> Token:
    """End a token at once, and with it every session that it opened. Raises `NotFound`."""
    row = session.get(Token, token_id)
    if row is None:
        raise NotFound(f"There is no token {token_id}.")
    row.revoked_at = row.revoked_at or utc_now()
    return row


def digest(token: str) -> str:
    """What is stored of a token; it has 256 random bits, so a plain sha256 cannot be reversed by trying."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _identity(row: Token | None) -> Identity:
    if row is None:
        raise NotSignedIn("This token is not known here.", "Check that it was copied whole, or ask for a new one.")
    if row.revoked_at is not None:
        raise NotSignedIn("This token was revoked.", "Ask a maintainer for a new one.")
    if row.expires_at is not None and row.expires_at <= utc_now():
        raise NotSignedIn("This token has expired.", "Ask a maintainer for a new one.")
    return Identity(row.team_id, row.team.name, row.role, row.id)
