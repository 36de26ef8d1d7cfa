"""Raters: agreement and qualification per batch, leaving one out, and labels out and in again."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from sqlalchemy import select

from core.errors import Conflict, InvalidInput, NotFound
from core.tables import Job
from scorer.agreement_report import batch_agreement
from server.bootstrap import Services
from submissions.labels import labels_of
from submissions.ratings.export import export_labels, export_ratings
from tests.ratings_files import HEADER, TRIPLES, apply, labels_csv, preview, ratings_csv, table
from tests.small_benchmark import OSLO, add_benchmark, add_team, submit


@pytest.fixture
def ready(services: Services, tmp_path: Path) -> Services:
    add_benchmark(services, tmp_path / "files", raters_per_item=3)
    return services


def verdicts(services: Services) -> dict[str, bool]:
    with services.database.reading() as session:
        return {label.answer: label.attributable for label in labels_of(session, "small").values()}


def test_leaving_a_rater_out_turns_labels_and_taking_them_back_restores_them(ready: Services) -> None:
    submit(ready, add_team(ready))
    apply(ready, ratings_csv({"oslo": "YYN", "roma": "YYY"}))
    assert verdicts(ready) == {"Oslo": True, "Roma": True}
    found = ready.raters.leave_out("small", "rater-1", "m", "fails the qualification")
    assert (found.rater, found.restored_at) == ("rater-1", None)
    assert verdicts(ready) == {"Oslo": False, "Roma": True}  # one of two is a tie
    with pytest.raises(Conflict):
        ready.raters.leave_out("small", "rater-1", "m")
    with pytest.raises(NotFound):
        ready.raters.leave_out("small", "rater-9", "m")
    later = ratings_csv({"nile": "YN"})
    assert preview(ready, later).left_out == ("rater-1",)
    assert preview(ready, later).new_labels == 1
    ready.raters.take_back("small", "rater-1", "m2")
    assert verdicts(ready) == {"Oslo": True, "Roma": True}
    with pytest.raises(NotFound):
        ready.raters.take_back("small", "rater-1", "m2")
    [history] = ready.raters.history("small")
    assert (history.excluded_by, history.reason, history.restored_by) == ("m", "fails the qualification", "m2")


def test_only_the_raters_own_triples_are_evaluated_again(ready: Services) -> None:
    team = add_team(ready)
    first = submit(ready, team, system="a")
    submit(ready, team, [{"question": "how long is the nile", "answer": "6,650 km", "attribution": OSLO}], system="b")
    apply(ready, ratings_csv({"oslo": "YYN"}))
    with ready.database.transaction() as session:
        session.query(Job).delete()
    ready.raters.leave_out("small", "rater-3", "m")
    with ready.database.reading() as session:
        assert list(session.scalars(select(Job.subject))) == [first.id]


def test_agreement_of_a_batch_by_hand(ready: Services) -> None:
    batch = apply(ready, ratings_csv({"oslo": "YYN", "roma": "YNU", "nile": "YY"}))
    with ready.database.reading() as session:
        found = batch_agreement(session, batch.id)
    # Each unit's ordered Y-N pairs over its ratings less one: oslo 2·1/2, roma 1·2/2, nile 0; mirrored that is 4 of 8.
    # By chance, with 5 Y and 3 N: 2·5·3 of 8·7.
    assert found.overall.alpha == pytest.approx(1 - (4 / 8) / (30 / 56))
    assert (found.overall.items, found.overall.ratings, found.overall.ties) == (3, 8, 0)
    assert {share.rater: (share.agreed, share.n) for share in found.overall.raters} == {
        "rater-1": (2, 3), "rater-2": (3, 3), "rater-3": (1, 2),
    }  # fmt: skip
    assert (found.by_type, found.accuracy) == ({}, ())


def test_a_qualification_batch_measures_raters_and_makes_no_label(ready: Services) -> None:
    submission = submit(ready, add_team(ready))
    rows = [
        (*TRIPLES["oslo"], "rater-1", "Y", "Y", "Y"),
        (*TRIPLES["roma"], "rater-1", "Y", "N", "N"),
        (*TRIPLES["oslo"], "rater-2", "N", "", "Y"),
        (*TRIPLES["roma"], "rater-2", "Y", "N", "N"),
    ]
    data = table((*HEADER, "known"), rows)
    found = preview(ready, data)
    assert (found.qualification, found.new_labels, found.submissions) == (True, 0, ())
    batch = apply(ready, data)
    assert verdicts(ready) == {}
    with ready.database.reading() as session:
        shares = batch_agreement(session, batch.id).accuracy
        assert len(session.scalars(select(Job).where(Job.subject == submission.id)).all()) == 1
    assert {share.rater: (share.agreed, share.n) for share in shares} == {"rater-1": (2, 2), "rater-2": (1, 2)}


def test_a_qualification_row_without_its_known_answer_refuses(ready: Services) -> None:
    found = preview(ready, table((*HEADER, "known"), [(*TRIPLES["oslo"], "rater-1", "Y", "Y", "")]))
    assert [(place.row, place.kind) for place in found.report.places] == [(1, "bad_answer")]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_labels_go_out_and_come_in_again(ready: Services, kind: str) -> None:
    apply(ready, ratings_csv({"oslo": "YYN", "roma": "YN", "nile": "UUU"}))
    with ready.database.reading() as session:
        out = io.BytesIO()
        export_labels(session, ready.benchmarks.get("small"), kind, out)
    found = ready.ratings.preview("small", io.BytesIO(out.getvalue()), f"labels.{kind}")
    assert (found.kind, found.ratings, found.accepted) == ("pre-aggregated", 3, True)
    ready.ratings.revoke(1, "m")
    before = verdicts(ready)
    ready.ratings.apply("small", io.BytesIO(out.getvalue()), f"labels.{kind}", author="m")
    assert (before, verdicts(ready)) == ({}, {"Oslo": True, "Roma": False, "6,650 km": False})


def test_ratings_go_out_with_their_batch(ready: Services) -> None:
    rows = [(TRIPLES["oslo"][0], "=1+1", OSLO, "rater-1", "N", "")]
    batch = apply(ready, table(HEADER, rows), synthetic=True)
    ready.ratings.revoke(batch.id, "m")
    benchmark = ready.benchmarks.get("small")
    with ready.database.reading() as session:
        as_csv, as_jsonl = io.BytesIO(), io.BytesIO()
        export_ratings(session, benchmark, "csv", as_csv)
        export_ratings(session, benchmark, "jsonl", as_jsonl)
        with pytest.raises(InvalidInput):
            export_ratings(session, benchmark, "xls", io.BytesIO())
    [row] = csv.DictReader(io.StringIO(as_csv.getvalue().decode()))
    assert row["answer"] == "'=1+1"
    entry = json.loads(as_jsonl.getvalue())
    assert (entry["answer"], entry["interpretable"], entry["supported"], entry["positive"]) == ("=1+1", "N", None, "N")
    assert (entry["batch"], entry["counts"], entry["synthetic"], entry["author"]) == (
        batch.id,
        False,
        True,
        "maintainer",
    )
    assert entry["digest"] == batch.file_digest
    assert entry["revoked_at"] > entry["applied_at"]


def test_a_pre_aggregated_file_may_say_a_thing_twice_but_not_two_things(ready: Services) -> None:
    rows = [(*TRIPLES["oslo"], "Y"), (*TRIPLES["oslo"], "Y"), (*TRIPLES["roma"], "Y")]
    header = ("question", "answer", "attribution", "human_rating")
    found = preview(ready, table(header, rows))
    assert (found.accepted, found.ratings, found.report.counts["repeated_row"]) == (True, 2, 1)
    found = preview(ready, table(header, [*rows, (*TRIPLES["roma"], "N")]))
    assert [(place.row, place.kind) for place in found.report.places if place.kind == "rated_twice"] == [
        (4, "rated_twice")
    ]
    assert not preview(ready, labels_csv({"oslo": "?"})).accepted
