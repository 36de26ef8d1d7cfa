"""The judgment cache: a pair is judged once under a judge's signature, ever, for all submissions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from core.database import Database
from core.ports import Judge
from core.records import Judgment, Pair
from core.tables import JudgeRow, JudgmentRow, Tally
from core.text import pair_key

_LOOKUP = 500
JUDGED, SECONDS, HITS = "judged_pairs", "judge_seconds", "judgment_cache_hits"
"""Names of the tallies that workers keep together."""


class JudgmentCache:
    """Reads and fills the cache of one judge; what was judged before a crash is not judged again."""

    def __init__(self, database: Database, judge: Judge, chunk: int = 256) -> None:
        self._database = database
        self._judge = judge
        self._chunk = chunk

    def judge_all(
        self, pairs: Sequence[Pair], progress: Callable[[int, int], None] = lambda done, total: None
    ) -> list[Judgment]:
        """Judgments in the order of `pairs`; missing ones are judged in chunks and stored as each ends.

        `progress` gets (pairs known, pairs in all) before the first chunk and after each.
        """
        keys = [pair_key(pair.premise, pair.hypothesis) for pair in pairs]
        known = self.known(keys)
        missing = list({key: pair for key, pair in zip(keys, pairs, strict=True) if key not in known}.items())
        total = len(known) + len(missing)
        progress(len(known), total)
        if known:
            with self._database.transaction() as session:
                count(session, HITS, len(known))
        for start in range(0, len(missing), self._chunk):
            chunk = missing[start : start + self._chunk]
            begun = time.monotonic()
            fresh = dict(zip([key for key, _ in chunk], self._judge.judge([pair for _, pair in chunk]), strict=True))
            seconds = time.monotonic() - begun
            with self._database.transaction() as session:
                store(session, self._judge.signature, fresh)
                count(session, JUDGED, len(fresh))
                count(session, SECONDS, seconds)
            known |= fresh
            progress(len(known), total)
        return [known[key] for key in keys]

    def known(self, keys: Sequence[bytes]) -> dict[bytes, Judgment]:
        """What the cache holds of the given pair keys."""
        return lookup(self._database, self._judge.signature, keys)


def lookup(database: Database, judge_signature: str, keys: Sequence[bytes]) -> dict[bytes, Judgment]:
    """What the cache holds of the given pair keys under a judge's signature; no judge is loaded."""
    unique = list(dict.fromkeys(keys))
    found: dict[bytes, Judgment] = {}
    with database.reading() as session:
        judge_id = session.scalar(select(JudgeRow.id).where(JudgeRow.signature == judge_signature))
        if judge_id is None:
            return found
        columns = select(JudgmentRow.pair, JudgmentRow.p, JudgmentRow.label, JudgmentRow.flags)
        for start in range(0, len(unique), _LOOKUP):
            batch = unique[start : start + _LOOKUP]
            query = columns.where(JudgmentRow.judge_id == judge_id, JudgmentRow.pair.in_(batch))
            for key, p, label, flags in session.execute(query):
                found[key] = Judgment(p, label, tuple(flags))
    return found


def store(session: Session, judge_signature: str, judgments: dict[bytes, Judgment]) -> None:
    """Write judgments; where another worker wrote the same pair first, the first one stays."""
    insert = _insert(session)
    session.execute(insert(JudgeRow).values(signature=judge_signature).on_conflict_do_nothing())
    judge_id = session.scalar(select(JudgeRow.id).where(JudgeRow.signature == judge_signature))
    rows = [
        {"judge_id": judge_id, "pair": key, "p": judgment.p, "label": judgment.label, "flags": list(judgment.flags)}
        for key, judgment in sorted(judgments.items())
    ]
    if rows:
        session.execute(insert(JudgmentRow).on_conflict_do_nothing(), rows)


def count(session: Session, name: str, amount: float) -> None:
    """Add to a tally; the last statement of a transaction, since it holds the tally until the commit."""
    added = _insert(session)(Tally).values(name=name, value=amount)
    session.execute(added.on_conflict_do_update(index_elements=["name"], set_={"value": Tally.value + amount}))


def _insert(session: Session) -> Any:
    return sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
