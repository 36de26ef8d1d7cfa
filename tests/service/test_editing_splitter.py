"""Labels of sentences hold for the splitter that numbered them; those of another one are left out, and counted."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from sqlalchemy import update

from core.sentences import splitter
from core.tables import RatingBatch, Submission
from leaderboard.board import rows as board_rows
from leaderboard.editing_examples import passage
from leaderboard.pages.board_html import board_html
from leaderboard.pages.render import render
from leaderboard.view import View
from server.bootstrap import Services
from server.ratings import exported
from server.shown import lines
from server.worker import Worker
from submissions.editing.labels import left_out_in_words
from tests.rated_editing import apply, filled, scores, sheet
from tests.small_benchmark import add_team
from tests.small_editing import add_editing, send

OTHER = "pysbd-0.2.0.1"
TOLD = f"3 labels were given under another sentence splitter ({OTHER}) and are left out."


@pytest.fixture
def sent(services: Services, tmp_path: Path) -> Submission:
    """A scored entry on the board, whose sentences are two in the first passage and one in the second."""
    add_editing(services, tmp_path / "editing", raters_per_item=1)
    submission = send(services, add_team(services), publish=True)
    Worker(services).run_until_idle()
    return submission


def of_another(services: Services, rater: str = "Ann", name: str = OTHER) -> bytes:
    """A filled sheet that an installation with another splitter wrote."""
    return filled([row | {"splitter": name} for row in sheet(services)], rater, {})


def test_a_batch_keeps_the_splitter_of_its_sheet(services: Services, sent: Submission) -> None:
    rows = sheet(services)
    assert {row["splitter"] for row in rows} == {splitter()}
    intents = [row for row in rows if row["sentence"] == "0"]
    bare = [{key: text for key, text in row.items() if key != "splitter"} for row in rows]
    for given in (
        filled(rows, "Ann", {}),
        filled(bare, "Bob", {}),
        of_another(services, "Eve"),
        filled(intents, "M", {}),
    ):
        apply(services, given)
    kept = [batch.splitter for batch in services.ratings.batches("edit")]
    assert kept == [splitter(), splitter(), OTHER, None]


def test_labels_under_another_splitter_are_left_out_and_counted(services: Services, sent: Submission) -> None:
    data = of_another(services)
    seen = services.ratings.preview("edit", io.BytesIO(data), "l.csv")
    assert (seen.accepted, seen.new, seen.new_labels, seen.submissions) == (True, 5, 2, (sent.id,))
    assert seen.report.counts["other_splitter"] == 3
    apply(services, data)
    assert services.ratings.preview("edit", io.BytesIO(data), "l.csv").repeats == 5
    found = scores(services, sent)
    for key in ("attr_ais", "f1_ap"):
        assert found[key].value is None
        assert found[key].reason.endswith(TOLD)
        assert found[key].details["left_out"] == {OTHER: 3}
    assert found["attr_ais"].details["labelled"] == 0
    assert found["pres_intent"].value == 1.0, "an intent has no number to go wrong"
    assert "left_out" not in found["pres_intent"].details
    # What does not count is asked for again, and counts then, beside what is left out.
    again = sheet(services)
    assert [(row["id"], row["sentence"]) for row in again] == [("p0", "1"), ("p0", "2"), ("p1", "1")]
    apply(services, filled(again, "Ann", {("p0", "2"): "N"}))
    found = scores(services, sent)
    assert found["attr_ais"].value == pytest.approx((0.5 + 1 + 0) / 3)
    assert found["attr_ais"].details["left_out"] == {OTHER: 3}
    _told_where_the_number_is(services, sent)


def _told_where_the_number_is(services: Services, sent: Submission) -> None:
    with services.database.reading() as session:
        board = board_rows(session, "edit")
        evaluation = session.get_one(Submission, sent.id).evaluation_id
        remarks = {line.title: line.remark for line in lines(session, "edit", evaluation, False)[0]}
    assert TOLD in board_html(board, View(benchmark="edit"))
    assert TOLD in remarks["Attr AIS"]
    assert TOLD not in remarks["Pres intent"]
    found = passage(services.database, board, services.benchmarks.get("edit"), 0, {})
    html = render("editing_passage.html", board=board, found=found, query="")
    assert TOLD.replace("3 labels", "2 labels") in html
    ratings, _ = exported(services, "edit", "ratings", "csv")
    told = {
        (row["splitter"], row["sentence"] == "0", row["counts"])
        for row in csv.DictReader(io.StringIO(ratings.decode()))
    }
    assert told == {(OTHER, False, "False"), (OTHER, True, "True"), (splitter(), False, "True")}
    labels, _ = exported(services, "edit", "labels", "csv")
    assert len(labels.splitlines()) == 1 + 5


def test_a_score_that_was_stored_before_is_not_taken_for_one_with_labels_left_out(
    services: Services, sent: Submission
) -> None:
    apply(services, filled(sheet(services), "Ann", {}))
    before = scores(services, sent)["attr_ais"]
    other = [row | {"splitter": OTHER} for row in sheet(services, before=True)]
    assert {row["id"] for row in other} == {"p0", "p1"}
    batch = apply(services, filled(other, "Ann", {}))
    assert scores(services, sent)["attr_ais_before"].details["left_out"] == {OTHER: 3}
    services.ratings.revoke(batch, "mo")
    after = scores(services, sent)
    assert (after["attr_ais"], "left_out" in after["attr_ais_before"].details) == (before, False)


@pytest.mark.parametrize(("kept", "value"), [(splitter(), 2 / 3), (OTHER, None)])
def test_a_batch_of_another_splitter_does_not_count(
    services: Services, sent: Submission, kept: str, value: float | None
) -> None:
    batch = apply(services, filled(sheet(services), "Ann", {}))
    with services.database.transaction() as session:
        session.execute(update(RatingBatch).where(RatingBatch.id == batch).values(splitter=kept))
    found = scores(services, sent)["attr_ais"]
    assert found.value == (None if value is None else pytest.approx(value))
    assert found.reason == (
        None if kept != OTHER else "No human has rated all sentences of any of this system's revisions yet. " + TOLD
    )


def test_another_splitters_numbers_and_texts_are_its_own(services: Services, sent: Submission) -> None:
    row = next(row for row in sheet(services) if (row["id"], row["sentence"]) == ("p1", "1"))
    strange = row | {"sentence": "7", "sentence_text": "The Nile", "splitter": OTHER}
    seen = services.ratings.preview("edit", io.BytesIO(filled([strange], "Ann", {})), "l.csv")
    assert (seen.accepted, seen.ratings) == (True, 1)
    here = services.ratings.preview("edit", io.BytesIO(filled([strange | {"splitter": ""}], "Ann", {})), "l.csv")
    assert (here.accepted, here.report.counts["bad_sentence"]) == (False, 1)


@pytest.mark.parametrize("name", [OTHER, "no name", "x" * 81, "<b>"])
def test_a_batch_has_one_splitter(services: Services, sent: Submission, name: str) -> None:
    first, *rest = sheet(services)
    data = filled([first | {"splitter": name}, *rest], "Ann", {})
    seen = services.ratings.preview("edit", io.BytesIO(data), "l.csv")
    assert not seen.accepted
    assert seen.report.counts["bad_splitter"] == (2 if name == OTHER else 1)


def test_a_board_with_half_the_labels_is_shown(services: Services, sent: Submission) -> None:
    """F1 AP has a coverage and no bounds."""
    apply(services, filled([row for row in sheet(services) if row["id"] == "p0"], "Ann", {}))
    assert scores(services, sent)["f1_ap"].details["coverage"] == pytest.approx(2 / 3)
    with services.database.reading() as session:
        html = board_html(board_rows(session, "edit"), View(benchmark="edit"))
    assert "2 of 3 rated, bounds" in html


def test_words_for_labels_left_out() -> None:
    assert left_out_in_words({}) == []
    assert left_out_in_words({"b": 1, "a": 1_200}) == [
        "1,200 labels were given under another sentence splitter (a) and are left out.",
        "1 label was given under another sentence splitter (b) and is left out.",
    ]
