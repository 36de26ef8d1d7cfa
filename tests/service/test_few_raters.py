"""Labels of fewer raters than planned count, and it is said wherever their numbers stand."""

from __future__ import annotations

from pathlib import Path

from core.tables import Submission
from leaderboard.board import rows as board_rows
from leaderboard.pages.board_html import board_html
from leaderboard.view import View
from server.bootstrap import Services
from server.cli.report import _remarks
from server.shown import lines
from server.worker import Worker
from submissions.labels import few_raters_in_words
from tests.rated_editing import apply, filled, scores, sheet
from tests.small_benchmark import add_team
from tests.small_editing import add_editing, send

TOLD = "3 labels have fewer raters than planned."


def test_one_rater_where_three_are_planned_is_told(services: Services, tmp_path: Path) -> None:
    add_editing(services, tmp_path / "editing", raters_per_item=3)
    sent = send(services, add_team(services), publish=True)
    Worker(services).run_until_idle()
    rows = sheet(services)
    apply(services, filled(rows, "Ann", {}))
    found = scores(services, sent)
    with services.database.reading() as session:
        board = board_rows(session, "edit")
        row = session.get_one(Submission, sent.id)
        assert row.evaluation_id is not None
        shown, _ = lines(session, "edit", row.evaluation_id, False)
    assert TOLD in board_html(board, View(benchmark="edit"))
    assert TOLD in " ".join(line.remark for line in shown)
    assert TOLD in " ".join(_remarks("attr_ais", "Attr AIS", found["attr_ais"]))
    for rater in ("Bob", "Eve"):
        apply(services, filled(rows, rater, {}))
    scores(services, sent)
    with services.database.reading() as session:
        assert "fewer raters" not in board_html(board_rows(session, "edit"), View(benchmark="edit"))


def test_words_for_labels_of_few_raters() -> None:
    assert few_raters_in_words({}) == few_raters_in_words({"incomplete": 0}) == []
    assert few_raters_in_words({"incomplete": 1}) == ["1 label has fewer raters than planned."]
