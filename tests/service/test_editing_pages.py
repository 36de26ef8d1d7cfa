"""What the pages of the editing track are made of: board, drawing, comparison, correlations, passages and steps."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace

import numpy as np
import orjson
import pytest
from sqlalchemy import select

from core.architectures import ARCHITECTURES
from core.database import Database
from core.errors import NotFound
from core.tables import RunRow, Submission, System
from core.tracks import EDITING
from leaderboard.board import assemble, rows
from leaderboard.cache import Boards
from leaderboard.editing_compare import differences, widest
from leaderboard.editing_correlate import PAIRS, over_passages, over_systems
from leaderboard.editing_examples import changes, listed, passage
from leaderboard.editing_plots import AUTO, AXES, HUMAN, LEVELS, contour, marks, trade_off
from leaderboard.editing_traces import Traces
from leaderboard.pages.board_html import board_html
from leaderboard.pages.board_page import BoardPage
from leaderboard.pages.compare_page import ComparePage
from leaderboard.pages.correlations_page import CorrelationsPage
from leaderboard.pages.editing_board_page import EditingBoardPage, usual_numbers
from leaderboard.pages.editing_compare_page import EditingComparePage
from leaderboard.pages.editing_passages_page import EditingPassagesPage
from leaderboard.pages.examples_page import ExamplesPage
from leaderboard.pages.render import render
from leaderboard.pages.system_page import SystemPage
from leaderboard.ranking import read_many
from leaderboard.records import Board, Row
from leaderboard.view import View
from scorer.statistics.harmonic import harmonic
from scorer.statistics.resamples import ResampleStore
from server.bootstrap import Services
from server.demo import editing
from server.worker import Worker
from tests.small_benchmark import add_benchmark, add_team
from tests.small_editing import add_editing, send

STORE = ResampleStore()
HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'


@pytest.fixture
def demo(services: Services) -> tuple[Services, Board]:
    """The demo's editing benchmark, scored."""
    editing.load(services)
    Worker(services).run_until_idle()
    with services.database.reading() as session:
        return services, rows(session, editing.BENCHMARK)


def row(board: Board, name: str) -> Row:
    return next(each for each in board.rows if each.entry.system == name)


def test_pages_of_the_demo(demo: tuple[Services, Board]) -> None:
    """One walk over all pages, since loading takes its time."""
    services, board = demo
    _table(board)
    _drawing(board)
    _comparison(services.database, board)
    _kinship(services.database, board)
    _passages(services, board)
    _system(services.database, board)
    _address(services.database)


def _system(database: Database, board: Board) -> None:
    """Its page speaks of passages and revisions; an id that nobody has is not taken for a private system."""
    page = SystemPage(database, Boards(database), STORE, "")
    about = page.show(board.benchmark, str(board.rows[0].entry.system_id))[0]
    assert "<dt>Revises</dt><dd>100.0 % of the passages</dd>" in about
    assert "bootstrap: passages are drawn anew" in about
    assert ", revises 100.0 %" in about
    assert "question" not in about
    with database.transaction() as session:
        team = session.scalars(select(System.team_id)).first()
        session.add(private := System(team_id=team, name="private", architecture="other"))
        session.flush()
        there = str(private.id)
    assert "This system has no published version on this benchmark." in page.show(board.benchmark, there)[0]
    for nobody in ("WRONG", "999999"):
        assert "No system has this id." in page.show(board.benchmark, nobody)[0]


def _address(database: Database) -> None:
    """Which numbers are drawn stands in the address with all else that was chosen, unless they are the usual ones."""
    page = BoardPage(database, Boards(database), "", EDITING, usual_numbers)
    asked = SimpleNamespace(query_params={"benchmark": editing.BENCHMARK, "q": "oracle", "numbers": AUTO})
    assert f'data-query="?benchmark={editing.BENCHMARK}&amp;q=oracle&amp;numbers=auto"' in page.load(asked)[-1]
    assert page.load(asked)[-2] == AUTO
    assert page.switch(editing.BENCHMARK)[-2] == HUMAN
    controls = [editing.BENCHMARK, "oracle", "", False, [], [], "", "", "", False, ""]
    for chosen, shown in ((AUTO, True), (HUMAN, False), (None, False)):
        assert ("&amp;numbers=" in page.table(*controls, chosen)) == shown
    drawn = EditingBoardPage(database, Boards(database), STORE, "").load(asked)
    assert drawn[1]["value"] == AUTO
    assert "Pearson r" in drawn[6]
    assert 'data-save="svg"' in drawn[3]


def _table(board: Board) -> None:
    assert [column.key for column in board.columns][:2] == ["f1_ap", "attr_ais"]
    assert {column.title for column in board.columns} >= {"Attr auto", "F1 AP auto", "Attr auto before"}
    html = board_html(board, View(benchmark=board.benchmark))
    assert "Synthetic ratings" in html
    assert "Oracle-editor" in html


def _drawing(board: Board) -> None:
    for key in (AUTO, HUMAN):
        found = marks(board, AXES[key])
        figure = trade_off(found, AXES[key], board.synthetic)
        names = [trace["name"] for trace in figure["data"]]
        assert sum(name.startswith("F1 AP ") for name in names) == len(LEVELS) == 9
        drawn = [trace for trace in figure["data"] if trace["mode"] == "markers+text"]
        assert sum(len(trace["x"]) for trace in drawn) == len(found)
        assert len({trace["marker"]["symbol"] for trace in drawn}) == len(drawn)
        assert all(trace["error_x"]["array"] and trace["error_y"]["array"] for trace in drawn)
        assert ("synthetic" in figure["layout"]["xaxis"]["title"]["text"]) == (key == HUMAN)
        labels = [label for trace in drawn for label in trace["text"] if label]
        assert sorted(name for label in labels for name in label.split("<br>")) == sorted(m.entry.system for m in found)
        assert {"Small-Evidence-only", "Small-RARR"} <= {*next(x for x in labels if "Small-RARR" in x).split("<br>")}


def _comparison(database: Database, board: Board) -> None:
    one, two = row(board, "Oracle-editor"), row(board, "No-editing-BM25")
    with database.reading() as session:
        found = {each.column.key: each for each in differences(session, board, one, two, STORE)}
        apart = widest(session, one, two, "attr_ais")
    for each in found.values():
        assert each.found.difference == pytest.approx(each.first - each.second)
    assert found["f1_ap"].found.interval.low > 0
    gaps = [abs(each.difference) for each in apart]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[0] > 0
    html = render(
        "editing_compare.html", board=board, first=one, second=two, differences=tuple(found.values()), extent=10.0,
        apart=apart, total=len(apart), metric="Attr AIS", query="?a=1",
        questions={each.position: type("Q", (), {"text": HOSTILE}) for each in apart},
    )  # fmt: skip
    assert "<script>" not in html


def _kinship(database: Database, board: Board) -> None:
    for pair in PAIRS.values():
        with database.reading() as session:
            level, found = over_systems(session, board, pair, STORE), over_passages(session, board, pair, STORE)
            ids = [each.entry.evaluation_id for each in board.rows]
            human, automatic = (read_many(session, ids, key) for key in (pair.human, pair.automatic))
        x, y = (np.concatenate([values[at] for at in ids]) for values in (automatic, human))
        known = np.isfinite(x) & np.isfinite(y)
        r = found.pearson
        assert r.value == pytest.approx(np.corrcoef(x[known], y[known])[0, 1])
        assert (r.n, found.passages) == (known.sum(), known.reshape(len(ids), -1).any(axis=0).sum())
        assert r.interval.low < r.value < r.interval.high
        html = render(
            "editing_fit.html", board=board, level=level, passages=found, pair=pair, key="x", human="Attr AIS",
            titles=ARCHITECTURES,
        )  # fmt: skip
        told = " ".join(re.sub("<[^>]+>", "", html).split())
        ends = f"({r.interval.low:.2f} to {r.interval.high:.2f}, 95 % over passages)"
        assert f"Pearson r {r.value:.2f} {ends} over {r.n} rated revisions of {found.passages} passages" in told
        assert level.found.fit.pearson.systems == len(board.rows)


def _passages(services: Services, board: Board) -> None:
    benchmark = services.benchmarks.get(board.benchmark)
    with services.database.reading() as session:
        changed = changes(session, board, benchmark)
    assert len(listed(benchmark, changed)) == len(benchmark.questions)
    dialogue = listed(benchmark, changed, kind="context")
    assert {benchmark.questions[each.position].type for each in dialogue} == {"dialogue"}
    (nile,) = listed(benchmark, changed, text="WHITE nile")
    assert nile.changed >= 2
    found = passage(services.database, board, benchmark, nile.position, {})
    edited = {each.entry.system: each for each in found.edited}
    oracle = edited["Oracle-editor"]
    assert [piece.text for piece in oracle.pieces if piece.kind == "new"] == ["Khartoum", "Tana"]
    assert all(told.p is not None and told.number and told.verdict for told in (*oracle.after, *oracle.before))
    assert oracle.numbers.f1_ap_auto == pytest.approx(harmonic(oracle.numbers.attr_auto, oracle.numbers.pres_lev))
    with services.database.reading() as session:
        values = read_many(session, [oracle.entry.evaluation_id], "attr_auto")[oracle.entry.evaluation_id]
    assert oracle.numbers.attr_auto == pytest.approx(values[nile.position])
    assert not edited["No-editing-BM25"].changed
    html = render("editing_passage.html", board=board, found=found, query="?passage=1")
    assert f"Passage {nile.position + 1} ({benchmark.questions[nile.position].id})" in html
    assert "<del>" in html
    assert "[inserted: </span>Khartoum" in html  # not by colour alone
    with pytest.raises(NotFound):
        passage(services.database, board, benchmark, 999, {})


def test_every_point_of_a_contour_has_its_harmonic_mean() -> None:
    for level in LEVELS:
        line = contour(level / 100)
        for x, y in zip(line["x"], line["y"], strict=True):
            assert harmonic(x, y) == pytest.approx(level, abs=0.01)
            assert 0 <= y <= 100.001


def test_steps_are_read_from_a_run_and_hostile_ones_stay_text(services: Services, tmp_path) -> None:
    add_editing(services, tmp_path / "editing")
    team = add_team(services)
    submission = send(services, team, publish=True, system="Runner")
    send(services, team, [{"id": "p0", "revised": HOSTILE, "report": [
        {"text": HOSTILE, "source": "javascript:alert(1)", "query": HOSTILE},
        {"text": "a", "source": "https://example.org/?a=\"><b>"}]}], publish=True, system=HOSTILE)  # fmt: skip
    Worker(services).run_until_idle()
    steps = [
        {"step": "questions", "round": 1, "queries": [HOSTILE], "prompt": HOSTILE, "raw": HOSTILE, "template": "q@1"},
        {"step": "edit", "query": "q", "before": "a b", "revised": f"a {HOSTILE}", "after": "a b",
         "decision": "rejected", "reason": "99 characters changed", "evidence": {"text": HOSTILE, "score": 0.5}},
        "not a step", {"step": ["odd"], "queries": 3, "evidence": [None, 5]},
    ]  # fmt: skip
    lines = [
        {"system": "s"},
        *({"position": at, "text": "", "trace": {"steps": steps if at == 0 else []}} for at in (0, 1)),
    ]
    data = b"".join(orjson.dumps(line) + b"\n" for line in lines)
    with services.database.transaction() as session:
        details = {"outputs": services.blobs.put(io.BytesIO(data))}
        session.add(RunRow(id="r", team_id=team, benchmark_id="edit", system="s", plan={}, details=details,
                           submission_id=submission.id))  # fmt: skip
    with services.database.reading() as session:
        board = rows(session, "edit")
        ids = list(session.scalars(select(Submission.id)))
        kept = Traces(services.blobs)
        told = kept.of(session, ids, 0)
        assert kept.of(session, ids, 7) == {}
        assert kept.of(session, ids, 1) == {submission.id: {"steps": []}}
    assert list(told) == [submission.id]
    found = passage(services.database, board, services.benchmarks.get("edit"), 0, told)
    made = next(each for each in found.edited if each.entry.system == "Runner").steps
    assert [(each.title, each.outcome, each.tone) for each in made[:2]] == [
        ("Questions asked of the text, round 1", "", ""), ("Edit", "rejected", "bad"),
    ]  # fmt: skip
    assert [piece.kind for piece in made[1].diff][:2] == ["same", "gone"]
    html = render("editing_passage.html", board=board, found=found, query="?q=" + HOSTILE)
    for tag in ("<script", "<img", 'href="javascript', "<b>"):
        assert tag not in html
    assert "99 characters changed" in html


def test_a_page_of_one_track_leads_to_the_others_for_its_benchmark(services: Services, tmp_path) -> None:
    add_editing(services, tmp_path / "editing")
    add_benchmark(services, tmp_path / "small")
    database, boards = services.database, Boards(services.database)
    pages = {
        "compare": ComparePage(database, boards, STORE),
        "correlations": CorrelationsPage(database, boards, STORE),
        "examples": ExamplesPage(database, boards, services.benchmarks),
        "editing-compare": EditingComparePage(database, boards, STORE, services.benchmarks),
        "editing-passages": EditingPassagesPage(database, boards, services.benchmarks, services.blobs),
    }
    leads = {
        "compare": "editing-compare", "correlations": "editing", "examples": "editing-passages",
        "editing-compare": "compare", "editing-passages": "examples",
    }  # fmt: skip
    for name, page in pages.items():
        own, other = ("edit", "small") if name.startswith("editing") else ("small", "edit")
        told = page.load(SimpleNamespace(query_params={"benchmark": other}))
        assert [f'data-goto="/leaderboard/{leads[name]}?benchmark={other}"' in str(each) for each in told].count(
            True
        ) == 1
        stays = page.load(SimpleNamespace(query_params={"benchmark": own}))
        assert len(stays) == len(told)
        assert not any("data-goto" in str(each) for each in stays)


def test_an_empty_board_says_so(services: Services, tmp_path) -> None:
    benchmark = add_editing(services, tmp_path / "editing")
    with services.database.reading() as session:
        board = assemble(session, "edit", [])
        level = over_systems(session, board, PAIRS["attribution"], STORE)
        assert (
            over_passages(session, board, PAIRS["attribution"], STORE).pearson.reason == "no passage has both numbers"
        )
    assert marks(board, AXES[AUTO]) == ()
    assert level.reason
    found = passage(services.database, board, benchmark, 0, {})
    assert "No system is published" in render("editing_passage.html", board=board, found=found, query="")
