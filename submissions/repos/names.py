"""Names of namespaces, repositories and files."""

from __future__ import annotations

import re
import unicodedata

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import InvalidInput
from core.tables import NamespaceRow, Team

_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,94}[A-Za-z0-9_])?")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_PATH = 500


def check_name(name: str) -> str:
    """The name itself. Raises `InvalidInput` for one that Hub clients refuse, too."""
    if not _NAME.fullmatch(name) or "--" in name or ".." in name or name.endswith(".git"):
        raise InvalidInput(
            f"{name[:100]!r} cannot name a repository.",
            "Use 1 to 96 of A–Z, a–z, 0–9, '_', '-' and '.'; no '-' or '.' at the ends, no '--', '..' or final '.git'.",
        )
    return name


def check_path(path: str) -> str:
    """The path itself. Raises `InvalidInput` for one that leads outside or that cannot be a file's on every system."""
    parts = path.split("/")
    if any(part in (".", "..", ".git") for part in parts) or "\\" in path or not path.isprintable():
        raise InvalidInput(
            f"{path[:80]!r} leads outside of the repository or holds characters that paths may not hold.",
            "Use names parted by '/', without '.', '..', '.git', backslashes or control characters.",
        )
    if len(path) > _LONGEST_PATH or any(not part or len(part.encode()) > 255 for part in parts):
        raise InvalidInput(
            f"{path[:80]!r} is not a path.", f"Up to {_LONGEST_PATH} characters, parted by '/', like data/x.csv."
        )
    return path


def slug(name: str) -> str:
    """A team's name as a namespace: other characters than letters, digits, '_', '-' and '.' become '-'."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    made = re.sub(r"-{2,}", "-", re.sub(r"\.{2,}", ".", _NOT_IN_NAMES.sub("-", plain)))[:80].strip("-.")
    made = made.removesuffix(".git")
    return made if _NAME.fullmatch(made) else "team"


def namespace_of(session: Session, team_id: int) -> str:
    """The team's namespace, given at its first use: its slug, with a number where another team has that already."""
    row = session.get(NamespaceRow, team_id)
    if row is None:
        # Locking the team makes two first uses at once wait for each other.
        team = session.get_one(Team, team_id, with_for_update=True)
        row = session.get(NamespaceRow, team_id, populate_existing=True)
        if row is None:
            row = NamespaceRow(team_id=team_id, slug=_free(session, slug(team.name)))
            session.add(row)
            session.flush()
    return row.slug


def team_of(session: Session, namespace: str) -> int | None:
    """The id of the team that a namespace stands for."""
    return session.scalar(select(NamespaceRow.team_id).where(NamespaceRow.slug == namespace))


def _free(session: Session, wanted: str) -> str:
    taken = set(session.scalars(select(NamespaceRow.slug).where(NamespaceRow.slug.startswith(wanted, autoescape=True))))
    candidates = (wanted if n == 1 else f"{wanted}-{n}" for n in range(1, len(taken) + 2))
    return next(name for name in candidates if name not in taken)
