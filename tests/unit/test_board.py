"""The board: which versions stand on it, what may be ranked, what stands apart, and plain JSON out of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select, update

from benchmarks.board_world import World, generate
from core.database import Database
from core.errors import InvalidInput, NotFound
from core.tables import BenchmarkRow, EvaluationRow, RatingBatch, ScoreRow, Submission, System
from core.tables.base import utc_now
from leaderboard.board import rows
from leaderboard.records import Board, Row

WORLD = World(systems=12, questions=80, rated=40)


@pytest.fixture
def database(tmp_path: Path) -> Database:
    found = Database(f"sqlite:///{tmp_path / 'board.sqlite'}")
    found.ensure_current()
    generate(found, tmp_path, WORLD)
    return found


def board_of(database: Database, **options: object) -> Board:
    with database.reading() as session:
        return rows(session, WORLD.benchmark_id, **options)


def row_of(board: Board, system: str) -> Row | None:
    return next((row for row in board.rows if row.entry.system == system), None)


def change(database: Database, system: str, **values: object) -> None:
    with database.transaction() as session:
        system_id = session.scalar(select(System.id).where(System.name == system))
        session.execute(update(Submission).where(Submission.system_id == system_id).values(**values))


def test_every_published_system_stands_once_under_its_architecture(database: Database) -> None:
    board = board_of(database)
    assert len(board.rows) == len({row.entry.system_id for row in board.rows}) == 12
    for group in board.groups:
        assert {row.entry.architecture for row in group.rows} == {group.architecture}
        assert group.summary.systems == len(group.rows)


@pytest.mark.parametrize(
    "values",
    [{"published_at": None}, {"withdrawn_at": utc_now()}, {"evaluation_id": None}],
    ids=lambda v: next(iter(v)),
)
def test_private_withdrawn_and_unscored_versions_are_not_shown(database: Database, values: dict[str, object]) -> None:
    change(database, "System 001", **values)
    board = board_of(database)
    assert row_of(board, "System 001") is None
    assert len(board.rows) == 11


def test_a_private_version_is_shown_where_it_is_asked_for(database: Database) -> None:
    change(database, "System 001", published_at=None)
    with database.reading() as session:
        system = session.scalar(select(System).where(System.name == "System 001"))
        submission = session.scalar(select(Submission.id).where(Submission.system_id == system.id))
    assert row_of(board_of(database, include=[submission]), "System 001") is not None


def test_the_latest_published_version_counts(database: Database) -> None:
    with database.transaction() as session:
        old = session.scalars(select(Submission).join(System).where(System.name == "System 002")).one()
        other = session.scalars(select(Submission).join(System).where(System.name == "System 011")).one()
        shared = {c.key: getattr(old, c.key) for c in Submission.__table__.columns}
        session.add(Submission(**shared | {"id": "v2", "version": 2, "evaluation_id": other.evaluation_id}))
        session.add(Submission(**shared | {"id": "v3", "version": 3, "published_at": None}))
    row = row_of(board_of(database), "System 002")
    assert row is not None
    assert (row.entry.version, row.entry.evaluation_id) == (2, other.evaluation_id)


def test_numbers_carry_their_n_interval_and_recipe(database: Database) -> None:
    board = board_of(database)
    row = row_of(board, "System 007")
    assert row is not None
    with database.reading() as session:
        stored = session.scalars(select(ScoreRow).where(ScoreRow.evaluation_id == row.entry.evaluation_id)).all()
    assert {s.metric for s in stored} == set(row.metrics)
    for score in stored:
        cell = row.metrics[score.metric]
        assert (cell.value, cell.n, cell.low, cell.high, cell.se) == (
            score.value, score.n, score.low, score.high, score.se)  # fmt: skip
        assert cell.signature == score.signature
        assert cell.low is not None
        assert cell.low <= cell.value <= cell.high


def test_ais_is_the_default_rank_and_another_column_can_be_chosen(database: Database) -> None:
    assert board_of(database).rank_by == "ais"
    by_em = board_of(database, rank_by="em")
    assert by_em.rank_by == "em"
    ranked = [row for row in by_em.rows if row.rank]
    assert all(row.rank.systems == len(ranked) for row in ranked)
    best = max(ranked, key=lambda row: row.metrics["em"].value)
    worst = min(ranked, key=lambda row: row.metrics["em"].value)
    assert best.rank.best == 1
    assert worst.rank.worst == len(ranked)
    assert best.rank.worst < worst.rank.worst


def test_without_ratings_autoais_ranks(database: Database) -> None:
    with database.transaction() as session:
        nothing = {"value": None, "low": None, "high": None, "se": None, "n": 0, "reason": "No human has rated it."}
        session.execute(update(ScoreRow).where(ScoreRow.metric == "ais").values(**nothing))
    assert board_of(database).rank_by == "autoais"


def test_a_system_with_autoais_inside_is_struck_there_and_ranked_by_ais(database: Database) -> None:
    row = row_of(board_of(database, rank_by="autoais"), "System 005")
    assert row.metrics["autoais"].value is not None
    assert "AutoAIS model inside" in row.metrics["autoais"].struck
    assert row.rank is None
    assert row.unranked == row.metrics["autoais"].struck
    by_ais = row_of(board_of(database), "System 005")
    assert by_ais.rank is not None
    assert by_ais.metrics["ais"].struck is None


def test_partial_ratings_are_shown_with_bounds_and_not_ranked_by_ais(database: Database) -> None:
    row = row_of(board_of(database), "System 003")
    cell = row.metrics["ais"]
    assert cell.value is not None
    assert cell.details["coverage"] < 1
    low, high = cell.details["bounds"]
    assert low <= cell.value <= high
    assert row.rank is None
    assert "full coverage" in row.unranked
    assert row_of(board_of(database, rank_by="em"), "System 003").rank is not None


def test_a_short_submission_is_scored_but_nowhere_ranked(database: Database) -> None:
    for column in ("ais", "autoais", "em"):
        row = row_of(board_of(database, rank_by=column), "System 004")
        assert row.metrics[column].value is not None
        assert row.rank is None
        assert "ranks from 95%" in row.unranked


def test_scores_of_another_recipe_stand_in_a_column_of_their_own(database: Database) -> None:
    moved = "autoais|bench:x|judge:token-overlap@1|tmpl:aqa|thr:0.5|bs:9|seed:1|v:1.0"
    with database.transaction() as session:
        evaluation = session.scalar(
            select(EvaluationRow.id).join(Submission).join(System).where(System.name == "System 006")
        )
        session.execute(
            update(ScoreRow)
            .where(ScoreRow.evaluation_id == evaluation, ScoreRow.metric == "autoais")
            .values(signature=moved)
        )
    board = board_of(database, rank_by="autoais")
    apart = board.column("autoais@2")
    assert apart.title == "Token overlap (baseline)"
    assert "judge:token-overlap@1" in apart.apart
    row = row_of(board, "System 006")
    assert row.rank is None
    assert row.metrics["autoais"].value is None
    assert row.metrics["autoais@2"].value is not None
    assert all(other.metrics["autoais@2"].value is None for other in board.rows if other is not row)
    assert board_of(database, rank_by="autoais@2").column("autoais@2") is not None


def test_other_labels_do_not_set_scores_apart(database: Database) -> None:
    with database.transaction() as session:
        row = session.scalars(select(ScoreRow).where(ScoreRow.metric == "ais")).first()
        row.signature = row.signature.replace("labels:generated", "labels:other")
    board = board_of(database)
    assert [column.key for column in board.columns if column.metric == "ais"] == ["ais"]


def test_columns_come_from_the_metrics_with_the_judge_named(database: Database) -> None:
    board = board_of(database)
    assert [column.key for column in board.columns][:4] == ["em", "f1", "autoais", "ais"]
    assert board.column("em").title == "EM"
    assert board.column("em").judge is None
    assert board.column("autoais").judge.key == "generated"
    assert board.column("autoais").title != "AutoAIS"


def test_synthetic_ratings_are_said_so(database: Database) -> None:
    assert board_of(database).column("ais").synthetic
    with database.transaction() as session:
        session.execute(update(BenchmarkRow).values(synthetic=False))
    assert board_of(database).synthetic
    with database.transaction() as session:
        session.execute(update(RatingBatch).values(revoked_at=utc_now()))
    assert not board_of(database).column("ais").synthetic


def test_summaries_leave_out_what_is_not_ranked(database: Database) -> None:
    for group in board_of(database).groups:
        eligible = [row for row in group.rows if row.metrics["autoais"].unranked is None]
        spread = group.summary.columns["autoais"]
        assert spread.n == len(eligible)
        assert spread.best.value == max(row.metrics["autoais"].value for row in eligible)
        gaps = [row.metrics["autoais"].value - row.metrics["ais"].value for row in group.rows]
        assert group.summary.gap == pytest.approx(sum(gaps) / len(gaps))


def test_json_has_no_nan_and_keeps_the_reasons(database: Database) -> None:
    with database.transaction() as session:
        row = session.scalars(select(ScoreRow).where(ScoreRow.metric == "ais")).first()
        row.value, row.low, row.high, row.se, row.reason = None, None, None, None, "No human has rated it."
    found = json.loads(json.dumps(board_of(database).to_dict(), allow_nan=False))
    assert len(found["rows"]) == 12
    undefined = [each["metrics"]["ais"] for each in found["rows"] if each["metrics"]["ais"]["value"] is None]
    assert [cell["reason"] for cell in undefined] == ["No human has rated it."]


def test_an_empty_board_has_columns_and_no_rows(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'empty.sqlite'}")
    database.ensure_current()
    generate(database, tmp_path, replace(WORLD, systems=0))
    board = board_of(database)
    assert board.rows == ()
    assert board.rank_by is None
    assert board.columns[0].title == "EM"


def test_unknown_benchmarks_and_columns_are_refused(database: Database) -> None:
    with database.reading() as session:
        with pytest.raises(NotFound):
            rows(session, "nothing")
        with pytest.raises(InvalidInput, match="nope"):
            rows(session, WORLD.benchmark_id, rank_by="nope")
