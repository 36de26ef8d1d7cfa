"""Questions found by filters, shown with every answer, its passage and what judge and raters said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session

from benchmarks.board_world import World, generate
from core.benchmark import Benchmarks
from core.corpus import Corpus
from core.database import Database
from core.errors import NotFound
from core.tables import PredictionRow
from leaderboard.cache import Boards
from leaderboard.examples import FILTERS, Table, example, find
from leaderboard.marking import mark
from leaderboard.pages.render import render
from leaderboard.records import Board

Setting = tuple[Session, Board, dict[str, Table], Corpus]


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    folder: Path = tmp_path_factory.mktemp("examples")
    database = Database(f"sqlite:///{folder / 'board.sqlite'}")
    database.ensure_current()
    benchmark = generate(database, folder, World(systems=8, questions=60, rated=30))
    boards = Boards(database)
    board = boards.get("generated")
    with database.reading() as session:
        yield session, board, boards.tables(board), Benchmarks(database, folder).corpus(benchmark)


def test_all_questions_come_in_their_order_page_by_page(setting: Setting) -> None:
    session, board, tables, _ = setting
    page, total = find(session, board, tables, start=20, count=15)
    assert total == 60
    assert [each.position for each in page] == list(range(20, 35))


@pytest.mark.parametrize(
    "kind, em, autoais, ais",
    [
        ("em-misses", 0, None, 1),
        ("em-flatters", 1, None, 0),
        ("judge-flatters", None, 1, 0),
        ("judge-misses", None, 0, 1),
    ],
)
def test_a_filter_finds_exactly_the_questions_it_names(
    setting: Setting, kind: str, em: int | None, autoais: int | None, ais: int
) -> None:
    session, board, tables, corpus = setting
    page, total = find(session, board, tables, kind=kind, count=1000)
    assert total == len(page) > 0
    for at in range(board.questions):
        shown = example(session, board, corpus, tables, at)
        holding = sum(
            len(g.systems)
            for g in shown.given
            if g.ais == ais and (em is None or g.em == em) and (autoais is None or g.autoais == autoais)
        )
        assert next((f.systems for f in page if f.position == at), 0) == holding


def test_a_filter_can_be_of_one_system_and_of_words(setting: Setting) -> None:
    session, board, tables, _ = setting
    system = board.rows[0].entry
    page, _ = find(session, board, tables, kind="em-misses", system_id=system.system_id, count=1000)
    column = [row.entry for row in board.rows].index(system)
    expected = np.flatnonzero((tables["em"][:, column] == 0) & (tables["ais"][:, column] == 1))
    assert [each.position for each in page] == expected.tolist()
    assert [each.position for each in find(session, board, tables, text="NUMBER 7")[0]] == [7]
    assert find(session, board, tables, text="100%_")[1] == 0


def test_every_filter_has_a_title_and_takes_empty_boards() -> None:
    nothing = {key: np.empty((3, 0)) for key in ("em", "autoais", "autoais_p", "ais")}
    for each in FILTERS.values():
        assert each.title
        assert each.test(nothing).shape == (3, 0)


def test_one_question_has_every_system_once(setting: Setting) -> None:
    session, board, tables, corpus = setting
    shown = example(session, board, corpus, tables, 3)
    names = [entry.system for given in shown.given for entry in given.systems]
    assert sorted(names) == sorted(row.entry.system for row in board.rows)
    assert shown.references == ("Maker 3",)
    assert len({(given.answer, given.attribution) for given in shown.given}) == len(shown.given)


def test_votes_passage_and_mark_belong_to_the_answer(setting: Setting) -> None:
    session, board, tables, corpus = setting
    given = next(
        g for at in range(30) for g in example(session, board, corpus, tables, at).given if g.answer == f"Maker {at}"
    )
    assert given.passage is not None
    assert given.passage.id == given.attribution
    assert [text for text, marked in given.text if marked] == [given.answer]
    assert given.label.raters == 5
    assert given.ais == float(given.label.attributable)


def test_an_unknown_question_is_refused(setting: Setting) -> None:
    session, board, tables, corpus = setting
    with pytest.raises(NotFound, match="no question 60"):
        example(session, board, corpus, tables, 60)


def test_answers_are_shown_where_the_corpus_is_gone(setting: Setting) -> None:
    session, board, tables, _ = setting
    assert all(given.passage is None for given in example(session, board, None, tables, 0).given)


def test_an_answer_is_text_on_the_page(setting: Setting) -> None:
    session, board, tables, corpus = setting
    probe = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    with session.begin_nested():
        session.execute(update(PredictionRow).where(PredictionRow.position == 5).values(answer=probe))
        html = render(
            "example.html",
            board=board,
            example=example(session, board, corpus, tables, 5),
            query="?",
            system="",
            shown=board.columns,
        )
        session.rollback()
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;alert(1)" in html


@pytest.mark.parametrize(
    "text, answer, marked",
    [
        ("Born in Paris, France.", "paris france", ["Paris, France"]),
        ("Parisian cafés in Paris", "Paris", ["Paris"]),
        ("nothing here", "Paris", []),
        ("a (b) c", "(b)", ["b"]),
        ("C++ and C", "C", ["C", "C"]),
        ("text", "", []),
        ("text", None, []),
        ("text", "...", []),
        ("x " * 10, "x" * 500, []),
        ("<b>Paris</b>", "Paris", ["Paris"]),
    ],
)
def test_marking(text: str, answer: str | None, marked: list[str]) -> None:
    segments = mark(text, answer)
    assert "".join(piece for piece, _ in segments) == text
    assert [piece for piece, is_answer in segments if is_answer] == marked
