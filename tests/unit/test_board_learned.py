"""What the system page says of learning from labels: from all systems, by no question's own labels, or why not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy.orm import Session

from benchmarks.board_world import World, generate
from core.database import Database
from leaderboard.board import rows
from leaderboard.learned import learned
from leaderboard.ranking import read_many
from leaderboard.records import Board
from scorer.judges.calibrated.crossfit import Labelled, crossfit
from scorer.statistics.resamples import ResampleStore

STORE = ResampleStore()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder: Path = tmp_path_factory.mktemp("learned")
    database = Database(f"sqlite:///{folder / 'board.sqlite'}")
    database.ensure_current()
    generate(database, folder, World(systems=8, questions=120, rated=80))
    with database.reading() as opened:
        yield opened


@pytest.fixture(scope="module")
def board(session: Session) -> Board:
    return rows(session, "generated")


def test_the_mean_is_of_out_of_fold_p_over_all_questions(session: Session, board: Board) -> None:
    row = board.rows[0]
    found = learned(session, board, row, STORE)
    ids = [each.entry.evaluation_id for each in board.rows]
    p, ais = read_many(session, ids, "autoais_p"), read_many(session, ids, "ais")
    known = sorted({
        (at, p[key][at], ais[key][at])
        for key in ids for at in range(120) if np.isfinite(p[key][at]) and np.isfinite(ais[key][at])
    })  # fmt: skip
    data = Labelled(*(np.array([each[place] for each in known]) for place in (1, 2)), [str(each[0]) for each in known])
    own = p[row.entry.evaluation_id]
    at = np.flatnonzero(np.isfinite(own))
    expected = crossfit(data, "platt").out_of_fold(Labelled(own[at], own[at], [str(each) for each in at])).sum() / 120
    assert found.mean is not None
    assert found.mean.value == pytest.approx(expected)
    assert (found.labels, found.systems) == (len(known), 8)
    assert [gain.measure for gain in found.gains] == ["brier", "log_loss", "ece", "accuracy", "auc"]


def test_the_signature_names_what_it_rests_on(session: Session, board: Board) -> None:
    told = learned(session, board, board.rows[0], STORE).signature
    assert told.startswith("autoais_calibrated|bench:")
    for part in ("|judge:", "|method:platt|folds:5|labels:", "|bs:", "|seed:"):
        assert part in told
    assert "|thr:" not in told


def test_another_judges_systems_teach_nothing(session: Session, board: Board) -> None:
    row = board.rows[0]
    alone = replace(row, entry=replace(row.entry, judge="judge:another@1"))
    found = learned(session, board, alone, STORE)
    assert (found.gains, found.mean) == ((), None)
    assert found.reason


def test_few_ratings_give_a_reason(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'board.sqlite'}")
    database.ensure_current()
    generate(database, tmp_path, World(systems=2, questions=20, rated=3))
    with database.reading() as opened:
        found = learned(opened, (there := rows(opened, "generated")), there.rows[0], STORE)
    assert "40 are needed" in (found.reason or "")
    assert (found.mean, found.gains) == (None, ())
