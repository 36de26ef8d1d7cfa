"""Paired differences of two evaluations: those of the comparison, kept, and a reason where there is no interval."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy.orm import Session

from benchmarks.board_world import World, generate
from core.database import Database
from core.records import Interval
from leaderboard import differences
from leaderboard.board import rows
from leaderboard.differences import Differences, Paired
from leaderboard.pairing import compared
from leaderboard.ranking import read_many
from leaderboard.records import Board, Cell
from leaderboard.side_by_side import _change
from scorer.statistics.comparisons import compare, paired_differences
from scorer.statistics.resamples import Resamples, ResampleStore

STORE = ResampleStore()


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    database = Database(f"sqlite:///{tmp_path / 'board.sqlite'}")
    database.ensure_current()
    generate(database, tmp_path, World(systems=7, questions=60, rated=30))
    with database.reading() as opened:
        yield opened


def evaluations(board: Board) -> list[int]:
    return [row.entry.evaluation_id for row in sorted(board.rows, key=lambda row: row.entry.system)]


@pytest.mark.parametrize("metric", ["em", "f1", "autoais", "ais"])
def test_they_are_those_of_the_comparison(session: Session, metric: str) -> None:
    board = rows(session, "generated")
    ids, signature = evaluations(board), board.column(metric).recipe
    pairs = dict.fromkeys([(ids[0], ids[1]), (ids[2], ids[3]), (ids[1], ids[1]), (ids[4], ids[0])], signature)
    found = Differences(STORE).of(session, pairs, metric)
    for (before, after), each in found.items():
        expected = compared(session, after, before, metric, signature, STORE)
        values = read_many(session, [before, after], metric)
        known = np.isfinite(values[before]) & np.isfinite(values[after])
        assert each.interval == expected.interval
        assert (each.difference, each.n) == (expected.difference, known.sum())
        assert each.changed == (values[before][known] != values[after][known]).sum()
        assert each.interval.low <= each.difference <= each.interval.high


def test_they_are_made_once(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    board = rows(session, "generated")
    ids, signature = evaluations(board), board.column("em").recipe
    kept = Differences(STORE)
    first = kept.of(session, {(ids[0], ids[1]): signature}, "em")
    asked: list[list[int]] = []
    monkeypatch.setattr(differences, "read_many", lambda _, wanted, key: asked.append(wanted) or {})
    assert kept.of(session, {(ids[0], ids[1]): signature}, "em") == first
    assert asked == []
    other = kept.of(session, {(ids[0], ids[2]): signature}, "em")[ids[0], ids[2]]
    assert asked == [[ids[0], ids[2]]]
    assert (other.difference, other.n, other.reason) == (None, None, differences._NOT_STORED)


def test_sides_of_other_questions_say_so(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    board = rows(session, "generated")
    ids, signature = evaluations(board), board.column("em").recipe
    monkeypatch.setattr(differences, "read_many", lambda *_: {ids[0]: np.ones(60), ids[1]: np.ones(40)})
    [found] = Differences(STORE).of(session, {(ids[0], ids[1]): signature}, "em").values()
    assert (found.difference, found.reason) == (None, differences._OTHER_QUESTIONS)


def test_a_difference_that_rests_on_more_than_the_pairs_has_no_interval() -> None:
    """AIS of 40 questions then and 50 now: the paired difference is that of the 40."""
    paired = Paired(3, 40, 0.075, Interval(0.0, 0.15, 0.04, "bca"))
    told = _change(Cell(0.5, 40, 0.4, 0.6), Cell(0.575, 40, 0.45, 0.7), paired, "")
    assert (told.interval_difference, told.reason) == ((0.0, 0.15), None)
    told = _change(Cell(0.5, 40, 0.4, 0.6), Cell(0.56, 50, 0.45, 0.7), paired, "")
    assert told.interval_difference is None
    assert told.reason == "No interval: only 40 questions have both values, and the numbers rest on others too."
    assert told.difference == pytest.approx(0.06)


def test_many_pairs_at_once_equal_one_after_the_other() -> None:
    rng = np.random.default_rng(0)
    before = np.column_stack([rng.random(50) < 0.4, rng.random(50), np.ones(50), np.full(50, 0.3)]).astype(float)
    after = np.column_stack([rng.random(50) < 0.6, rng.random(50), np.ones(50), np.full(50, 0.8)]).astype(float)
    resamples = Resamples.draw(50, 400, 1)
    found = paired_differences(after, before, resamples)
    for at, (difference, interval) in enumerate(found):
        alone = compare(after[:, at], before[:, at], resamples)
        assert (difference, interval) == (alone.difference, alone.interval)
    assert found[2][1].method == "wilson"
    for bad in (before[:-1], before[:, :2], np.where(before == 1, np.nan, before)):
        with pytest.raises(ValueError):
            paired_differences(after, bad, resamples)
