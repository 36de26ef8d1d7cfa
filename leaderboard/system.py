"""One system: its row, its versions and what changed between them, and how its judge is calibrated and could be."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from core.tables import ScoreRow, Submission
from leaderboard.calibration import Calibration, calibrate
from leaderboard.entries import read_score_rows
from leaderboard.learned import Learned, judged_cell, learned
from leaderboard.pairing import compared
from leaderboard.ranking import read_many
from leaderboard.recipes import recipe_of
from leaderboard.records import Board, Row
from scorer.statistics.comparisons import Comparison
from scorer.statistics.resamples import ResampleStore

_NOTHING = "The predictions differ; no score does."


@dataclass(frozen=True, slots=True)
class Change:
    """How a metric moved since the version before; `found` is the later less the earlier, or None with a reason."""

    metric: str
    before: float | None
    after: float | None
    found: Comparison | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Version:
    """A published version with its numbers by metric, newest first, and what changed since the one before."""

    submission: str
    version: int
    published_at: datetime | None
    coverage: float
    digest: str
    scores: dict[str, ScoreRow]
    changes: tuple[Change, ...]
    note: str


@dataclass(frozen=True, slots=True)
class SystemView:
    """What the page of a system shows beside its row."""

    row: Row
    versions: tuple[Version, ...]
    calibration: Calibration
    learned: Learned


def system_view(session: Session, board: Board, row: Row, store: ResampleStore) -> SystemView:
    """The page of one row of a board."""
    evaluation = row.entry.evaluation_id
    p, ais = (read_many(session, [evaluation], key).get(evaluation, np.array([])) for key in ("autoais_p", "ais"))
    versions = _versions(session, board, row.entry.system_id, store)
    judged = judged_cell(board, row)
    nothing = np.array([])
    found = calibrate(p, ais, store, judged.signature) if judged else calibrate(nothing, nothing, store, "")
    return SystemView(row, versions, found, learned(session, board, row, store))


def _versions(session: Session, board: Board, system_id: int, store: ResampleStore) -> tuple[Version, ...]:
    query = select(Submission).where(
        Submission.system_id == system_id, Submission.benchmark_id == board.benchmark, Submission.on_board
    ).order_by(Submission.version)  # fmt: skip
    found = session.scalars(query).all()
    scores = read_score_rows(session, [each.evaluation_id for each in found if each.evaluation_id is not None])
    versions: list[Version] = []
    before: Submission | None = None
    for each in found:
        own = scores[each.evaluation_id or 0]
        changes: tuple[Change, ...] = ()
        if before is not None:
            changes = _changes(session, board, before.evaluation_id or 0, each.evaluation_id or 0, scores, store)
        note = "First version." if before is None else _NOTHING if not changes else ""
        versions.append(
            Version(each.id, each.version, each.published_at, each.coverage, each.digest, own, changes, note)
        )
        before = each
    return tuple(reversed(versions))


def _changes(
    session: Session,
    board: Board,
    before: int,
    after: int,
    scores: dict[int, dict[str, ScoreRow]],
    store: ResampleStore,
) -> tuple[Change, ...]:
    changes = []
    for metric in dict.fromkeys(column.metric for column in board.columns):
        old, new = scores[before].get(metric), scores[after].get(metric)
        if old is None or new is None or old.value == new.value:
            continue
        if recipe_of(old.signature) != recipe_of(new.signature):
            changes.append(Change(metric, old.value, new.value, None, "scored under another recipe"))
            continue
        found = compared(session, after, before, metric, new.signature, store)
        if found.n == 0:
            changes.append(Change(metric, old.value, new.value, None, "no question in common"))
            continue
        changes.append(Change(metric, old.value, new.value, found, None))
    return tuple(changes)
