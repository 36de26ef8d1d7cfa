"""Raters appear under pseudonyms; their names are never stored."""

from __future__ import annotations

import hashlib
import re
import secrets
import unicodedata

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from core.database import Database
from core.tables import RaterSalt

_PSEUDONYM = re.compile(r"rater-[a-z0-9]{1,24}")


class Pseudonyms:
    """Maps a rater's name to `rater-` and ten hexadecimal digits that only this installation's salt gives.

    Case and blanks around a name do not matter. What already looks like a pseudonym (`rater-7`) stays.
    """

    def __init__(self, salt: bytes) -> None:
        self._salt = salt

    def of(self, name: str) -> str:
        """The pseudonym of a name that is not blank."""
        folded = unicodedata.normalize("NFC", name).strip().casefold()
        if _PSEUDONYM.fullmatch(folded):
            return folded
        return "rater-" + hashlib.blake2b(folded.encode("utf-8"), key=self._salt, digest_size=5).hexdigest()


def pseudonyms(database: Database) -> Pseudonyms:
    """The mapping of this installation; its salt is made at the first use and kept in the database."""
    salt = _salt(database)
    if salt is None:
        try:
            with database.transaction() as session:
                session.add(RaterSalt(id=1, salt=secrets.token_bytes(16)))
        except IntegrityError:  # another process made it first
            pass
        salt = _salt(database)
    assert salt is not None
    return Pseudonyms(salt)


def _salt(database: Database) -> bytes | None:
    with database.reading() as session:
        return session.scalar(select(RaterSalt.salt).where(RaterSalt.id == 1))
