"""A system's page: versions and what changed, the judge's calibration, BibTeX, and text that stays text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from benchmarks.board_world import World, generate
from core.database import Database
from core.tables import Submission, System
from core.tables.base import utc_now
from leaderboard.board import rows
from leaderboard.calibration import calibrate
from leaderboard.citation import system_bibtex
from leaderboard.plots import calibration
from leaderboard.records import Board, Row
from leaderboard.system import system_view
from scorer.statistics.resamples import ResampleStore

STORE = ResampleStore()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder: Path = tmp_path_factory.mktemp("system")
    database = Database(f"sqlite:///{folder / 'board.sqlite'}")
    database.ensure_current()
    generate(database, folder, World(systems=8, questions=60, rated=30))
    with database.transaction() as opened:
        old = opened.scalars(select(Submission).join(System).where(System.name == "System 002")).one()
        better = opened.scalars(select(Submission).join(System).where(System.name == "System 007")).one()
        shared = {c.key: getattr(old, c.key) for c in Submission.__table__.columns}
        opened.add(Submission(**shared | {"id": "v2", "version": 2, "evaluation_id": better.evaluation_id}))
        opened.add(Submission(**shared | {"id": "v3", "version": 3, "published_at": None}))
        opened.add(Submission(**shared | {"id": "v4", "version": 4, "withdrawn_at": utc_now()}))
        opened.add(Submission(**shared | {"id": "v5", "version": 5, "evaluation_id": better.evaluation_id}))
    with database.reading() as opened:
        yield opened


@pytest.fixture(scope="module")
def board(session: Session) -> Board:
    return rows(session, "generated")


def system(board: Board, name: str) -> Row:
    return next(row for row in board.rows if row.entry.system == name)


def test_only_what_is_public_is_in_the_history_newest_first(session: Session, board: Board) -> None:
    found = system_view(session, board, system(board, "System 002"), STORE)
    assert [version.submission for version in found.versions][:2] == ["v5", "v2"]
    assert [version.version for version in found.versions] == [5, 2, 1]


def test_changes_are_paired_differences(session: Session, board: Board) -> None:
    latest, second, first = system_view(session, board, system(board, "System 002"), STORE).versions
    assert first.note == "First version."
    assert first.changes == latest.changes == ()
    assert latest.note == "The predictions differ; no score does."
    for change in second.changes:
        assert (change.before, change.after) == (first.scores[change.metric].value, second.scores[change.metric].value)
        assert change.found.difference == pytest.approx(change.after - change.before)
    assert {"em", "ais"} <= {change.metric for change in second.changes}


def test_calibration_counts_every_judged_and_rated_answer_once() -> None:
    p = np.array([0.05, 0.05, 0.95, 1.0, np.nan, 0.5])
    ais = np.array([0.0, 1.0, 1.0, 1.0, 0.0, np.nan])
    found = calibrate(p, ais, STORE, "bs:500|seed:1")
    assert [(each.n, each.share) for each in found.bins] == [(2, 0.5), (2, 1.0)]
    assert found.n == 4
    assert found.error.value == pytest.approx((2 * 0.45 + 2 * 0.025) / 4)
    assert found.bins[1].interval.high == pytest.approx(1.0)
    assert calibration(found, "judge", True)["data"][1]["y"] == [50.0, 100.0]


def test_the_calibration_error_has_the_interval_of_questions_drawn_anew() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(60)
    ais = (rng.random(60) < p**2).astype(float)
    error = calibrate(p, ais, STORE, "bs:400|seed:1").error
    drawn = []
    for _, block in STORE.get(60, 400, 1).blocks():
        for counts in block:
            at = np.repeat(np.arange(60), counts)
            drawn.append(calibrate(p[at], ais[at], STORE, "bs:400|seed:1").error.value)
    assert error.interval.se == pytest.approx(np.std(drawn, ddof=1))
    assert min(drawn) <= error.interval.low < error.value < error.interval.high


def test_without_ratings_there_is_a_reason_and_no_number() -> None:
    found = calibrate(np.array([0.5]), np.array([np.nan]), STORE, "")
    assert (found.error, found.bins) == (None, ())
    assert found.reason


def test_bibtex_is_balanced_whatever_the_names_hold(board: Board) -> None:
    row = system(board, "System 001")
    entry = replace(row.entry, system="A&B_{x} 100% \\input{y}\n~^", team="Tëam #1")
    text = system_bibtex(board, entry, "http://example.org/?a=1&b=2")
    assert text.startswith("@misc{t-am-1-a-b-x-100-input-y-v1,\n")
    assert r"A\&B\_\{x\} 100\% \textbackslash input\{y\} \textasciitilde \textasciicircum" in text
    unescaped = text.replace(r"\{", "").replace(r"\}", "")
    assert unescaped.count("{") == unescaped.count("}")
