"""Leaving a rater out of a benchmark's labels, and taking them back; the history of both stays."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.benchmark import Benchmarks
from core.database import Database
from core.errors import Conflict, NotFound
from core.queue import Queue
from core.tables import RaterExclusion
from core.tables.base import utc_now
from submissions.ratings import kinds
from submissions.ratings.pseudonyms import pseudonyms
from submissions.ratings.touched import re_evaluating


@dataclass
class Raters:
    """Which raters count; raters are named by pseudonym, or by the name that stood in their files."""

    database: Database
    benchmarks: Benchmarks
    queue: Queue

    def leave_out(self, benchmark_id: str, rater: str, by: str, reason: str = "") -> RaterExclusion:
        """Take a rater's ratings out of every label, past and to come, and evaluate again what that moves.

        Raises `NotFound` for a rater of whom there is no rating, `Conflict` for one who is left out already.
        """
        kind, pseudonym = kinds.of(self.benchmarks.get(benchmark_id)), self._pseudonym(rater)
        with (
            self.database.transaction() as session,
            re_evaluating(
                session, self.queue, benchmark_id, lambda: kind.keys_of_rater(session, benchmark_id, pseudonym),
                kind.moves,
            ),
        ):  # fmt: skip
            if not kind.keys_of_rater(session, benchmark_id, pseudonym):
                raise NotFound(
                    f"There is no rating by {pseudonym} on {benchmark_id}.", "`aqa ratings raters` lists them."
                )
            if _current(session, benchmark_id, pseudonym) is not None:
                raise Conflict(f"{pseudonym} is left out already.")
            row = RaterExclusion(benchmark_id=benchmark_id, rater=pseudonym, reason=reason, excluded_by=by[:80])
            session.add(row)
        return row

    def take_back(self, benchmark_id: str, rater: str, by: str) -> RaterExclusion:
        """Let a rater's ratings count again and evaluate again what that moves. Raises `NotFound`."""
        kind, pseudonym = kinds.of(self.benchmarks.get(benchmark_id)), self._pseudonym(rater)
        with (
            self.database.transaction() as session,
            re_evaluating(
                session, self.queue, benchmark_id, lambda: kind.keys_of_rater(session, benchmark_id, pseudonym),
                kind.moves,
            ),
        ):  # fmt: skip
            row = _current(session, benchmark_id, pseudonym)
            if row is None:
                raise NotFound(f"{pseudonym} is not left out of {benchmark_id}.")
            row.restored_at, row.restored_by = utc_now(), by[:80]
        return row

    def history(self, benchmark_id: str) -> list[RaterExclusion]:
        """Everyone who was ever left out, oldest first; `restored_at` is null where they still are."""
        query = select(RaterExclusion).where(RaterExclusion.benchmark_id == self.benchmarks.get(benchmark_id).id)
        with self.database.reading() as session:
            return list(session.scalars(query.order_by(RaterExclusion.id)))

    def _pseudonym(self, rater: str) -> str:
        return pseudonyms(self.database).of(rater)


def _current(session: Session, benchmark_id: str, rater: str) -> RaterExclusion | None:
    return session.scalars(
        select(RaterExclusion).where(
            RaterExclusion.benchmark_id == benchmark_id,
            RaterExclusion.rater == rater,
            RaterExclusion.restored_at.is_(None),
        )
    ).first()
