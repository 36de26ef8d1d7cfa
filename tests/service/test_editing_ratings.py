"""Human labels of revisions: sheets out, batches in, and the scores that they move."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from sqlalchemy import select

from core.errors import Conflict, InvalidInput, NotFound, Refused
from core.tables import EditRatingRow, Submission
from scorer.agreement_report import batch_agreement
from scorer.calibrating import of_benchmark
from server.bootstrap import Services
from server.ratings import batch_documents, exported, revision_sheet
from server.worker import Worker
from submissions.editing.labels import key_of
from tests.rated_editing import apply, filled, scores, sheet
from tests.small_benchmark import add_benchmark, add_team
from tests.small_editing import GOOD, ITEMS, add_editing, send


@pytest.fixture
def sent(services: Services, tmp_path: Path) -> Submission:
    """A scored entry on the board of a benchmark with two raters per item."""
    add_editing(services, tmp_path / "editing", raters_per_item=2)
    submission = send(services, add_team(services), publish=True)
    Worker(services).run_until_idle()
    return submission


def test_a_sheet_asks_for_what_nobody_rated(services: Services, sent: Submission) -> None:
    rows = sheet(services)
    assert [(row["id"], row["sentence"], row["sentence_text"]) for row in rows] == [
        ("p0", "1", "Oslo is the capital of Norway."),
        ("p0", "2", "It lies by a fjord."),
        ("p0", "0", GOOD[0]["revised"]),
        ("p1", "1", "The Nile flows north."),
        ("p1", "0", "The Nile flows north."),
    ]
    assert json.loads(rows[0]["evidence"])[0]["text"] == "Oslo is the capital of Norway."
    assert rows[3]["context"] == "Tell me of the Nile.\nGladly."
    with_before = sheet(services, before=True)
    assert [row["sentence_text"] for row in with_before if row["revised"] == ITEMS[0]["text"]] == [
        "Oslo is the capital of Sweden.", "It lies by a fjord.",
    ]  # fmt: skip
    with pytest.raises(NotFound):
        sheet(services, ["nothing"])


def test_two_raters_make_the_human_metrics(services: Services, sent: Submission) -> None:
    rows = sheet(services)
    first = filled(rows, "Ann", {("p0", "2"): "N"})
    seen = services.ratings.preview("edit", io.BytesIO(first), "l.csv")
    assert (seen.kind, seen.ratings, seen.triples, seen.new, seen.new_labels) == ("editing", 5, 5, 5, 5)
    assert (seen.submissions, seen.unheld, len(seen.raters)) == ((sent.id,), (), 1)
    batch = apply(services, first)
    found = scores(services, sent)
    assert found["attr_ais"].value == pytest.approx((0.5 + 1 + 0) / 3)
    assert found["attr_ais"].details["incomplete"] == 3
    assert found["pres_intent"].value == 1.0
    apply(services, filled(rows, "Bob", {("p1", "0"): "N"}))
    found = scores(services, sent)
    lev = [1 - 6 / 50, 0.0, 1.0]  # a tie is no, so the second passage's intent is not kept
    assert found["attr_ais"].value == pytest.approx((0.5 + 1 + 0) / 3)
    assert found["attr_ais"].details == {
        "due": 3, "rated": 3, "coverage": 1.0, "bounds": [0.5, 0.5], "labelled": 3, "votes": 6, "ties": 1,
        "incomplete": 0, "synthetic": False,
    }  # fmt: skip
    assert found["pres_intent"].value == pytest.approx(2 / 3)
    assert found["pres_comb"].value == pytest.approx(sum(lev) / 3)
    a, p = 0.5, sum(lev) / 3
    assert found["f1_ap"].value == pytest.approx(2 * a * p / (a + p))
    assert (found["f1_ap"].n, found["f1_ap"].details["coverage"]) == (3, 1.0)
    assert found["attr_ais_before"].value is None
    assert "labels:none" not in found["f1_ap"].signature
    services.ratings.revoke(batch, "mo")
    assert scores(services, sent)["attr_ais"].value == pytest.approx((1 + 1 + 0) / 3)
    with pytest.raises(NotFound):
        sheet(services)


def test_before_editing_is_labelled_by_the_same_sheet(services: Services, sent: Submission) -> None:
    rows = sheet(services, before=True)
    said = [row | {"rater": "Ann"} for row in rows]
    for row in said:
        row["intent" if row["sentence"] == "0" else "supported"] = "N" if "Sweden" in row["sentence_text"] else "Y"
    text = io.StringIO()
    writer = csv.DictWriter(text, list(said[0]))
    writer.writeheader()
    writer.writerows(said)
    apply(services, text.getvalue().encode())
    found = scores(services, sent)
    assert found["attr_ais"].value == pytest.approx(2 / 3)
    assert found["attr_ais_before"].value == pytest.approx((0.5 + 1 + 0) / 3)


def test_labels_by_text_need_no_key(services: Services, sent: Submission) -> None:
    rows = [
        {"id": "p1", "revised": GOOD[1]["revised"], "report": GOOD[1]["report"], "sentence": at, "rater": "Ann"} | said
        for at, said in ((1, {"supported": "Y"}), (0, {"intent": "y"}))
    ]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    apply(services, data)
    with services.database.reading() as session:
        stored = session.scalars(select(EditRatingRow)).all()
        benchmark = services.benchmarks.get("edit")
        from scorer.stored import read_revisions

        revision = read_revisions(session, sent.id)[1]
    assert benchmark.questions[1].id == "p1"
    assert {row.revision for row in stored} == {key_of(1, revision.text, revision.report)}
    assert {row.sentence for row in stored} == {0, 1}
    assert all(row.rater.startswith("rater-") for row in stored)


def test_an_unheld_revision_counts_once_it_is_sent(services: Services, sent: Submission) -> None:
    changed = [{"id": "p1", "revised": "It flows north.", "report": GOOD[1]["report"]}]
    row = changed[0] | {"sentence": "1", "rater": "Ann", "supported": "N"}
    data = json.dumps(row).encode() + b"\n"
    seen = services.ratings.preview("edit", io.BytesIO(data), "l.jsonl")
    assert (len(seen.unheld), seen.submissions) == (1, ())
    apply(services, data)
    later = send(services, add_team(services, "other"), [GOOD[0], *changed, GOOD[2]])
    assert scores(services, later)["attr_ais"].details["labelled"] == 1


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"id": "p9"}, "unknown_passage"),
        ({"id": "p0"}, "unknown_revision"),
        ({"key": "0" * 32}, "unknown_revision"),
        ({"key": "not hex"}, "unknown_revision"),
        ({"sentence": "2"}, "bad_sentence"),
        ({"sentence": "-1"}, "bad_sentence"),
        ({"sentence": "1.0"}, "bad_sentence"),
        ({"sentence": "first"}, "bad_sentence"),
        ({"sentence_text": "Another."}, "bad_sentence"),
        ({"sentence": "0"}, "bad_answer"),
        ({"supported": "perhaps"}, "bad_answer"),
        ({"intent": "Y"}, "bad_answer"),
        ({"key": "", "revised": "x" * 10_001, "report": "[]"}, "overlong_field"),
        ({"key": "", "revised": "It flows.", "report": "[{"}, "bad_report"),
        ({"rater": " "}, "no_rater"),
        ({"rater": "a\0"}, "nul_byte"),
    ],
)
def test_batches_that_are_refused(services: Services, sent: Submission, change: dict[str, str], kind: str) -> None:
    good = next(row for row in sheet(services) if (row["id"], row["sentence"]) == ("p1", "1"))
    row = good | {"rater": "Ann", "supported": "Y"} | change
    data = json.dumps({key: text for key, text in row.items() if text != ""}).encode() + b"\n"
    seen = services.ratings.preview("edit", io.BytesIO(data), "l.jsonl")
    assert not seen.accepted
    assert seen.report.counts[kind] == 1, seen.report
    with pytest.raises(Refused):
        apply(services, data)
    with services.database.reading() as session:
        assert session.scalars(select(EditRatingRow)).all() == []


def test_a_key_counts_for_its_own_passage_only(services: Services, sent: Submission) -> None:
    rows = sheet(services)
    other = next(row for row in rows if (row["id"], row["sentence"]) == ("p1", "1")) | {"id": "p0"}
    seen = services.ratings.preview("edit", io.BytesIO(filled([*rows, other], "Ann", {})), "l.csv")
    assert (seen.accepted, seen.report.counts["unknown_revision"]) == (False, 1)


def test_twice_in_a_batch_and_twice_the_same_file(services: Services, sent: Submission) -> None:
    rows = sheet(services)
    good, again = filled(rows, "Ann", {}), filled([*rows, rows[-1]], "Ann", {})
    assert services.ratings.preview("edit", io.BytesIO(again), "l.csv").report.counts["rated_twice"] == 1
    apply(services, good)
    with pytest.raises(Conflict):
        apply(services, good)
    other = filled(sheet(services, before=True) or [], "Ann", {})
    assert services.ratings.preview("edit", io.BytesIO(other), "l.csv").new == 3


def test_a_later_word_replaces_the_earlier(services: Services, sent: Submission) -> None:
    rows = sheet(services)
    apply(services, filled(rows, "Ann", {}))
    changed = filled(rows, "Ann", {("p0", "1"): "N"})
    seen = services.ratings.preview("edit", io.BytesIO(changed), "l.csv")
    assert (seen.new, seen.repeats, len(seen.conflicts), seen.verdicts_changed) == (0, 4, 1, 1)
    assert seen.conflicts[0].answer == "sentence 1: Oslo is the capital of Norway."
    apply(services, changed)
    assert scores(services, sent)["attr_ais"].value == pytest.approx((0.5 + 1 + 0) / 3)


def test_an_unfilled_sheet_and_a_skipped_row(services: Services, sent: Submission) -> None:
    rows = sheet(services)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    blank = services.ratings.preview("edit", io.BytesIO(text.getvalue().encode()), "l.csv")
    assert blank.report.counts["not_filled_in"] == 5
    assert blank.report.counts["no_match"] == 1
    writer.writerow(rows[0] | {"rater": "Ann", "supported": "Y"})
    writer.writerow(rows[0] | {"id": "p9", "rater": "Ann", "supported": "Y"})
    data = text.getvalue().encode()
    assert not services.ratings.preview("edit", io.BytesIO(data), "l.csv").accepted
    assert services.ratings.preview("edit", io.BytesIO(data), "l.csv", skip_unknown=True).ratings == 1


def test_raters_left_out_and_what_is_told_of_a_batch(services: Services, sent: Submission) -> None:
    rows = sheet(services)
    apply(services, filled(rows, "Ann", {}))
    batch = apply(services, filled(rows, "Bob", {("p0", "1"): "N"}), synthetic=True)
    with services.database.reading() as session:
        [one, two] = batch_documents(session, services.ratings.batches("edit"))
        told = batch_agreement(session, batch)
    assert [(each["ratings"], each["triples"], each["raters"]) for each in (one, two)] == [(5, 5, 1)] * 2
    assert (told.overall.items, told.overall.ratings) == (5, 5)
    assert set(told.by_type) == {"geography", "other"}
    assert scores(services, sent)["attr_ais"].details["synthetic"] is True
    before = scores(services, sent)["attr_ais"].value
    services.raters.leave_out("edit", "Bob", "mo")
    after = scores(services, sent)["attr_ais"].value
    assert (before, after) == (pytest.approx((0.5 + 1) / 3), pytest.approx(2 / 3))
    services.raters.take_back("edit", "Bob", "mo")
    assert scores(services, sent)["attr_ais"].value == before
    labels, name = exported(services, "edit", "labels", "csv")
    assert name == "edit-labels.csv"
    told_rows = list(csv.DictReader(io.StringIO(labels.decode())))
    assert [(row["id"], row["sentence"], row["human_rating"], row["positive"]) for row in told_rows] == [
        ("p0", "0", "Y", "2"), ("p0", "1", "N", "1"), ("p0", "2", "Y", "2"), ("p1", "0", "Y", "2"),
        ("p1", "1", "Y", "2"),
    ]  # fmt: skip
    every, _ = exported(services, "edit", "ratings", "jsonl")
    assert len(every.splitlines()) == 10


def test_each_track_has_its_own_sheets(services: Services, sent: Submission, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    with pytest.raises(InvalidInput, match="not drawn by the method 'stratified'"):
        services.sheets.make("edit", author="mo", method="stratified", size=1)
    with pytest.raises(InvalidInput, match="not of the editing track"):
        revision_sheet(services, "small", "csv", [], None, 0, False)


def test_judges_are_calibrated_on_questions_only(services: Services, tmp_path: Path) -> None:
    add_editing(services, tmp_path / "editing")
    with pytest.raises(InvalidInput, match="learns from benchmarks of questions only"):
        of_benchmark(services.database, services.benchmarks, "edit")
