"""Correlations of a board: who counts, the coefficients themselves, and plots that are valid Plotly JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import pearsonr
from sqlalchemy.orm import Session

from benchmarks.board_world import World, generate
from core.architectures import ARCHITECTURES
from core.database import Database
from leaderboard.board import rows
from leaderboard.correlate import architecture_gaps, detectable, instance_level, instance_systems, system_level
from leaderboard.pages.render import coefficient, percent, render
from leaderboard.plots import plain, scatter
from leaderboard.ranking import read_many
from leaderboard.records import Board
from scorer.statistics.resamples import ResampleStore

STORE = ResampleStore()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder: Path = tmp_path_factory.mktemp("correlations")
    database = Database(f"sqlite:///{folder / 'board.sqlite'}")
    database.ensure_current()
    generate(database, folder, World(systems=12, questions=80, rated=40))
    with database.reading() as opened:
        yield opened


@pytest.fixture(scope="module")
def board(session: Session) -> Board:
    return rows(session, "generated")


def test_only_fully_rated_ranked_systems_count(session: Session, board: Board) -> None:
    level = system_level(session, board, "em", STORE)
    names = {point.entry.system for point in level.points}
    assert len(names) == 10
    assert not names & {"System 003", "System 004"}


def test_r_is_that_of_the_published_numbers(session: Session, board: Board) -> None:
    level = system_level(session, board, "em", STORE)
    x, y = ([getattr(p, side).value for p in level.points] for side in ("metric", "ais"))
    assert level.found.fit.pearson.value == pytest.approx(pearsonr(x, y).statistic)
    slope, intercept = level.line
    assert (slope, intercept) == pytest.approx(tuple(np.polyfit(x, y, 1)))


def test_systems_with_autoais_inside_are_drawn_but_not_in_the_autoais_fit(session: Session, board: Board) -> None:
    level = system_level(session, board, "autoais", STORE)
    assert [p.entry.system for p in level.points if p.left_out] == ["System 005"]
    assert level.found.fit.pearson.systems == len(level.points) - 1
    assert level.found.everyone.pearson.systems == len(level.points)
    together = system_level(session, board, "autoais", STORE, with_autoais=True)
    assert together.found.fit.pearson == level.found.everyone.pearson


def test_an_architecture_can_be_left_out(session: Session, board: Board) -> None:
    level = system_level(session, board, "em", STORE, without={"other"})
    assert "other" not in {p.entry.architecture for p in level.points}
    whole = system_level(session, board, "em", STORE)
    assert level.found.fit.pearson.value == pytest.approx(whole.found.without_architecture["other"].pearson.value)


def test_too_few_systems_have_a_reason_and_no_number(session: Session, board: Board) -> None:
    level = system_level(session, board, "em", STORE, without={g.architecture for g in board.groups})
    assert (level.found, level.line) == (None, None)
    assert "Fewer than two" in level.reason
    assert instance_level(session, board, STORE, {g.architecture for g in board.groups}).reason


def test_instances_count_every_rated_question(session: Session, board: Board) -> None:
    found = instance_level(session, board, STORE)
    for _, each in found.systems:
        assert each.both + each.judge_only + each.raters_only + each.neither == each.n == 40
    measured = [number for _, each in found.systems for number in (each.phi, each.auc)]
    assert any(each.interval.low is not None for each in measured)
    for number in [*measured, found.pooled.phi, found.pooled.auc]:
        if number.interval.low is None:  # every resample of so few answers may be alike
            assert number.reason
        else:
            assert number.interval.low < number.value < number.interval.high
    assert (found.pooled.n, found.pooled.questions) == (40 * len(found.systems), 40)


def test_instances_are_those_of_the_stored_values(session: Session, board: Board) -> None:
    for entry, found in instance_level(session, board, STORE).systems:
        own = entry.evaluation_id
        human, decided = (read_many(session, [own], key)[own] for key in ("ais", "autoais"))
        known = np.isfinite(human)
        assert found.phi.value == pytest.approx(pearsonr(human[known], decided[known]).statistic)
        assert found.both == (human[known] * decided[known]).sum()


def test_leaving_out_changes_what_is_together_and_no_system(session: Session, board: Board) -> None:
    whole = instance_level(session, board, STORE)
    known = instance_systems(session, board, STORE)
    assert len(known) == len(whole.systems)
    part = instance_level(session, board, STORE, {"other"}, known)
    assert part == instance_level(session, board, STORE, {"other"})
    assert set(part.systems) < set(whole.systems)
    assert part.pooled.n == 40 * len(part.systems) < whole.pooled.n


def test_the_tables_show_every_interval(session: Session, board: Board) -> None:
    questions, gaps = instance_level(session, board, STORE), architecture_gaps(session, board, STORE)
    html = render(
        "correlation_tables.html", board=board, questions=questions, gaps=gaps, smallest={}, titles=ARCHITECTURES,
        shown=[],
    )  # fmt: skip
    for each in [questions.pooled, *(found for _, found in questions.systems)]:
        for number in (each.phi, each.auc):
            low, high = number.interval.low, number.interval.high
            ends = f"no interval: {number.reason}" if low is None else f"{coefficient(low)} to {coefficient(high)}"
            assert f'<td>{coefficient(number.value)}<span class="ci">{ends}</span>' in html
    for gap in gaps:
        assert f"{percent(gap.gap.interval.low, True)} to {percent(gap.gap.interval.high, True)}" in html


def test_gaps_are_those_of_the_summaries(session: Session, board: Board) -> None:
    published = {g.architecture: g.summary.gap for g in board.groups}
    for gap in architecture_gaps(session, board, STORE):
        assert gap.gap.interval.low < gap.gap.value < gap.gap.interval.high
        if gap.systems == len([r for r in board.rows if r.entry.architecture == gap.architecture]):
            assert gap.gap.value == pytest.approx(published[gap.architecture])


def test_the_smallest_difference_shrinks_with_questions(session: Session, board: Board) -> None:
    on_all, on_rated = detectable(session, board, "autoais"), detectable(session, board, "ais")
    assert (on_all.n, on_rated.n) == (80, 40)
    assert 0 < on_all.difference < on_rated.difference < 1


def test_the_figure_is_json_with_bars_to_the_ends_of_the_intervals(session: Session, board: Board) -> None:
    level = system_level(session, board, "autoais", STORE)
    figure = json.loads(json.dumps(scatter(level, True), allow_nan=False))
    markers = [trace for trace in figure["data"] if trace["mode"] == "markers"]
    assert sum(len(trace["x"]) for trace in markers) == len(level.points)
    first = next(p for p in level.points if p.entry.architecture == "retrieve-then-read")
    trace = next(t for t in markers if t["name"] == "Retrieve-then-read")
    assert trace["x"][0] + trace["error_x"]["array"][0] == pytest.approx(100 * first.metric.high, abs=1e-3)
    assert "synthetic" in figure["layout"]["yaxis"]["title"]["text"]


def test_names_cannot_use_plotly_markup() -> None:
    assert plain("<a href='javascript:alert(1)'>x</a>&") == "&lt;a href='javascript:alert(1)'&gt;x&lt;/a&gt;&amp;"
