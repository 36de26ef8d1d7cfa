"""Boards kept as they were: taken when a board has changed, never changed afterwards, and given out again whole.

A snapshot holds numbers and ranks but no names: these are read when it is looked at, so that a team that hides its name
now, or was deleted, is not named by an old board.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time, timedelta
from hashlib import sha256
from typing import Any

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import NotFound
from core.locks import take_turn
from core.tables import BenchmarkRow, BoardSnapshot, System, Team
from core.tables.base import utc_now
from leaderboard.board import grouped, rows
from leaderboard.records import Board, Cell, Column, Entry, JudgeName, Row
from scorer.statistics.ranks import Rank

_NAMES = ("system", "team", "description", "links")
_GONE = {"system": "a deleted system", "team": "a deleted team", "description": "", "links": []}


@dataclass(frozen=True, slots=True)
class Taken:
    """A snapshot without its board."""

    id: int
    taken_at: datetime
    systems: int
    rank_by: str | None
    digest: str


def take(session: Session, benchmark_id: str) -> BoardSnapshot | None:
    """Store the board as it is now; None where it is empty or what the newest snapshot holds. Raises `NotFound`.

    Whoever comes at the same moment waits until this transaction has ended, so that no board is stored twice.
    """
    take_turn(session, f"snapshot {benchmark_id}")
    board = rows(session, benchmark_id)
    held = _nameless(board)
    digest = sha256(orjson.dumps(held, option=orjson.OPT_SORT_KEYS)).hexdigest()
    last = newest(session, benchmark_id)
    if digest == last.digest if last else not board.rows:
        return None
    taken = BoardSnapshot(
        benchmark_id=benchmark_id, taken_at=utc_now(), systems=len(board.rows), rank_by=board.rank_by, digest=digest,
        board=held,
    )  # fmt: skip
    session.add(taken)
    session.flush()
    return taken


def taken(session: Session, benchmark_id: str) -> list[Taken]:
    """A benchmark's snapshots, newest first. Raises `NotFound` for the benchmark."""
    if session.get(BenchmarkRow, benchmark_id) is None:
        raise NotFound(f"There is no benchmark {benchmark_id[:64]!r}.", "See the list of benchmarks.")
    query = (
        select(BoardSnapshot.id, BoardSnapshot.taken_at, BoardSnapshot.systems, BoardSnapshot.rank_by,
               BoardSnapshot.digest)
        .where(BoardSnapshot.benchmark_id == benchmark_id)
        .order_by(BoardSnapshot.taken_at.desc(), BoardSnapshot.id.desc())
    )  # fmt: skip
    return [Taken(*found) for found in session.execute(query)]


def find(session: Session, snapshot_id: int) -> BoardSnapshot:
    """A snapshot. Raises `NotFound`."""
    found = session.get(BoardSnapshot, snapshot_id)
    if found is None:
        raise NotFound(f"There is no snapshot {snapshot_id}.", "See the list of the benchmark's snapshots.")
    return found


def of_day(session: Session, benchmark_id: str, day: date) -> BoardSnapshot | None:
    """The first snapshot that was taken on a day (UTC); None where none was."""
    start = datetime.combine(day, time.min, UTC)
    own = (BoardSnapshot.benchmark_id == benchmark_id, BoardSnapshot.taken_at >= start)
    query = select(BoardSnapshot).where(*own, BoardSnapshot.taken_at < start + timedelta(days=1))
    return session.scalars(query.order_by(BoardSnapshot.taken_at, BoardSnapshot.id).limit(1)).first()


def newest(session: Session, benchmark_id: str) -> BoardSnapshot | None:
    """The snapshot that was taken last; None where none ever was."""
    query = select(BoardSnapshot).where(BoardSnapshot.benchmark_id == benchmark_id)
    return session.scalars(query.order_by(BoardSnapshot.taken_at.desc(), BoardSnapshot.id.desc()).limit(1)).first()


def restore(session: Session, snapshot: BoardSnapshot) -> Board:
    """The board that a snapshot holds, with the names of now."""
    held = snapshot.board
    names = _names(session, [row["system_id"] for row in held["rows"]])
    columns = tuple(_column(each) for each in held["columns"])
    found = [_row(each, names) for each in held["rows"]]
    about = held["benchmark"]
    groups = grouped(found, columns, next((c for c in columns if c.key == held["rank_by"]), None))
    return Board(
        about["id"], about["title"], about["description"], about["name"], about["questions"], about["rated"],
        about["raters_per_item"], about["minimum_coverage"], held["synthetic_ratings"], columns, held["rank_by"],
        groups, **({"track": about["track"]} if "track" in about else {}),
    )  # fmt: skip


def _nameless(board: Board) -> dict[str, Any]:
    whole = orjson.loads(orjson.dumps(board.to_dict()))
    held = {key: whole[key] for key in ("benchmark", "synthetic_ratings", "rank_by", "columns")}
    kept = [{key: value for key, value in row.items() if key not in _NAMES} for row in whole["rows"]]
    return held | {"rows": sorted(kept, key=lambda row: row["system_id"])}


def _names(session: Session, systems: Sequence[int]) -> dict[int, dict[str, Any]]:
    query = select(System, Team.shown_name(utc_now())).join(Team).where(System.id.in_(systems))
    return {
        system.id: {"system": system.name, "team": team, "description": system.description, "links": system.links}
        for system, team in session.execute(query)
    }


def _column(held: Mapping[str, Any]) -> Column:
    judge = held.get("judge")
    return Column(**{**_known(Column, held), "judge": JudgeName(**_known(JudgeName, judge)) if judge else None})


def _row(held: Mapping[str, Any], names: Mapping[int, Mapping[str, Any]]) -> Row:
    about = dict(held) | dict(names.get(held["system_id"], _GONE))
    metrics = {key: Cell(**_known(Cell, cell)) for key, cell in about.pop("metrics").items()}
    rank, unranked = about.pop("rank"), about.pop("unranked")
    about["links"] = tuple(about["links"])
    about["published_at"] = datetime.fromisoformat(about["published_at"]) if about["published_at"] else None
    return Row(Entry(**_known(Entry, about)), metrics, Rank(**_known(Rank, rank)) if rank else None, unranked)


def _known(kind: type, held: Mapping[str, Any]) -> dict[str, Any]:
    """What a record of today takes of one that another version stored; the rest is left out."""
    names = {each.name for each in fields(kind)}
    return {key: value for key, value in held.items() if key in names}
