"""Sheets out and in again, and raters at work on one, on both databases."""

from __future__ import annotations

import csv
import io
import threading
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import select

from core.errors import Conflict, InvalidInput, NotFound
from core.tables import Job, RatingBatch, RatingRow, RatingSheet, SheetRow, Submission
from core.text import triple_key
from scorer.sheet_strata import strata
from server.bootstrap import Services, build
from server.worker import Worker
from submissions.labels import labels_of
from submissions.ratings.sheets import Candidate, draw, sampling
from tests.ratings_files import apply, preview, ratings_csv
from tests.small_benchmark import NILE, OSLO, add_benchmark, add_team, submit

TRICKY = [
    {"question": "what is the capital of norway", "answer": "=007", "attribution": OSLO},
    {"question": "how long is the nile", "answer": "1990", "attribution": NILE},
]


@pytest.fixture
def submission(services: Services, tmp_path: Path) -> Submission:
    add_benchmark(services, tmp_path / "files", raters_per_item=2)
    found = submit(services, add_team(services), publish=True)
    Worker(services).run_until_idle()
    return found


def rows_of(services: Services, sheet: RatingSheet) -> list[SheetRow]:
    with services.database.reading() as session:
        return list(session.scalars(select(SheetRow).where(SheetRow.sheet_id == sheet.id).order_by(SheetRow.row)))


def written(services: Services, sheet: RatingSheet, kind: str = "csv") -> list[dict[str, str]]:
    out = io.BytesIO()
    services.sheets.write(sheet.id, kind, out)
    return list(csv.DictReader(io.StringIO(out.getvalue().decode(), newline="")))


def as_csv(rows: list[dict[str, str]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def test_a_sheet_holds_what_is_published_and_unrated(services: Services, submission: Submission) -> None:
    apply(services, ratings_csv({"oslo": "Y"}))
    sheet = services.sheets.make("small", author="m", method="all")
    rows = rows_of(services, sheet)
    assert sorted(row.answer for row in rows) == ["6,650 km", "Roma"]  # q3 has no known passage, q4 no answer
    assert (sheet.population, {row.probability for row in rows}, sheet.submissions) == (2, {1.0}, [submission.id])


def test_a_random_sheet_records_its_probability_and_comes_again(services: Services, submission: Submission) -> None:
    first, second, other = (services.sheets.make("small", author="m", size=2, seed=seed) for seed in (5, 5, 6))
    answers = [[row.answer for row in rows_of(services, sheet)] for sheet in (first, second, other)]
    assert answers[0] == answers[1]
    assert {row.probability for row in rows_of(services, first)} == {2 / 3}
    with services.database.reading() as session:
        row = rows_of(services, other)[0]
        assert sampling(session, "small", [row.triple, b"x" * 16]) == {row.triple: 2 / 3}


def test_nothing_left_to_rate(services: Services, submission: Submission) -> None:
    apply(services, ratings_csv({"oslo": "Y", "roma": "Y", "nile": "N"}))
    with pytest.raises(NotFound, match="no unrated triple"):
        services.sheets.make("small", author="m", method="all")
    with pytest.raises(InvalidInput):
        draw([Candidate(b"a", 0, "a", "p")], "random", None, {}, 0)
    with pytest.raises(InvalidInput):
        draw([Candidate(b"a", 0, "a", "p")], "some", 1, {}, 0)


def test_a_sheet_takes_submissions_to_its_own_benchmark_only(
    services: Services, submission: Submission, tmp_path: Path
) -> None:
    add_benchmark(services, tmp_path / "other", "other")
    for named in ("nowhere", submission.id):
        with pytest.raises(NotFound, match=named):
            services.sheets.make("other", author="m", submissions=[named])
    assert services.sheets.make("small", author="m", method="all", submissions=[submission.id]).population == 3


def test_rare_strata_are_drawn_more_often_and_the_probabilities_say_so() -> None:
    population = [Candidate(bytes([at]), at, "a", "p") for at in range(100)]
    names = {c.triple: "judge yes, match no" if c.position < 10 else "both" for c in population}
    drawn = draw(population, "stratified", 40, names, seed=3)
    assert Counter(stratum for _, stratum, _ in drawn) == {"judge yes, match no": 10, "both": 30}
    assert {stratum: p for _, stratum, p in drawn} == {"judge yes, match no": 1.0, "both": 30 / 90}
    assert len({candidate.triple for candidate, _, _ in drawn}) == 40
    weighted = sum(1 / p for _, _, p in drawn)
    assert weighted == pytest.approx(100)
    with pytest.raises(InvalidInput, match="2 strata"):
        draw(population, "stratified", 1, names, seed=3)


def test_strata_are_where_judge_and_match_disagree(services: Services, submission: Submission) -> None:
    with services.database.reading() as session:
        found = strata(session, [submission.id])
    assert found[triple_key(0, "Oslo", OSLO)] == "judge yes, match yes"
    assert len(found) == 3
    sheet = services.sheets.make("small", author="m", method="stratified", size=3, strata=found)
    assert {row.stratum for row in rows_of(services, sheet)} == set(found.values())


def test_a_sheet_survives_a_spreadsheet(services: Services, submission: Submission) -> None:
    submit(services, add_team(services, "second"), TRICKY, "tricky", publish=True)
    Worker(services).run_until_idle()  # only what is scored is on the board
    sheet = services.sheets.make("small", author="m", method="all")
    rows = written(services, sheet)
    assert "system" not in rows[0]
    assert {row["passage"].split("\n")[0] for row in rows} == {"Title: Oslo", "Title: Rome", "Title: Nile"}
    tricky = next(row for row in rows if row["answer"] == "'=007")
    year = next(row for row in rows if row["answer"] == "1990")
    tricky |= {"rater": "ann", "interpretable": "Y", "supported": "N", "answer": "7"}
    year |= {"rater": "ann", "interpretable": "Y", "supported": "Y", "answer": "1990.0"}
    found = preview(services, as_csv(rows))
    assert (found.accepted, found.ratings, found.report.counts["not_filled_in"]) == (True, 2, 3)
    apply(services, as_csv(rows))
    with services.database.reading() as session:
        assert {label.answer: label.attributable for label in labels_of(session, "small").values()} == {
            "=007": False, "1990": True,
        }  # fmt: skip


def test_a_sheet_sorted_apart_is_refused(services: Services, submission: Submission) -> None:
    rows = written(services, services.sheets.make("small", author="m", method="all"))
    for row in rows:
        row |= {"rater": "ann", "interpretable": "N"}
    rows[0]["question"], rows[1]["question"] = rows[1]["question"], rows[0]["question"]
    rows[2]["sheet_row"] = "9:1"
    found = preview(services, as_csv(rows))
    assert [(place.row, place.kind) for place in found.report.places] == [(n, "unknown_sheet_row") for n in (1, 2, 3)]


def test_a_batch_closes_when_every_triple_has_its_raters(services: Services, submission: Submission) -> None:
    sheet = services.sheets.make("small", author="m", method="all")
    batch = services.assignments.open(sheet.id, "m")
    with pytest.raises(Conflict):
        services.assignments.open(sheet.id, "m")
    work = services.assignments
    seen = []
    while task := work.next(batch.id, "ann"):
        assert not work.record(batch.id, task.row, "ann", True, task.answer != "Roma")
        seen.append(task.answer)
    assert sorted(seen) == ["6,650 km", "Oslo", "Roma"]
    assert (work.progress(batch.id, "ann").mine, work.progress(batch.id, "bob").mine) == (3, 0)
    with services.database.reading() as session:
        assert labels_of(session, "small") == {}
        assert list(session.scalars(select(Job.subject).where(Job.state == "queued"))) == []
    first = work.next(batch.id, "bob")
    assert first is not None
    assert (first.row, first.total, first.interpretable, first.passage[:6]) == (1, 3, None, "Title:")
    ends = [work.record(batch.id, row, "bob", False, None, "unclear") for row in (1, 2, 3)]
    assert ends == [False, False, True]
    assert work.next(batch.id, "cec") is None
    assert work.open_batches() == []
    with services.database.reading() as session:
        labels = labels_of(session, "small").values()
        assert [(label.positive, label.raters, label.attributable) for label in labels].count((1, 2, False)) == 2
        assert list(session.scalars(select(Job.subject).where(Job.state == "queued"))) == [submission.id]
        assert len(set(session.scalars(select(RatingRow.rater)))) == 2
        assert all(name.startswith("rater-") for name in session.scalars(select(RatingRow.rater)))
    with pytest.raises(Conflict, match="closed"):
        work.record(batch.id, 1, "ann", True, True)


def test_a_rater_goes_back_and_mends_and_sees_only_their_own(services: Services, submission: Submission) -> None:
    batch = services.assignments.open(services.sheets.make("small", author="m", method="all").id, "m")
    work = services.assignments
    assert work.previous(batch.id, "ann") is None
    work.record(batch.id, 1, "ann", True, True)
    work.record(batch.id, 2, "ann", False, None, "what?")
    last = work.previous(batch.id, "ann")
    assert last is not None
    assert (last.row, last.interpretable, last.supported, last.note) == (2, False, None, "what?")
    earlier = work.previous(batch.id, "ann", before=2)
    assert earlier is not None
    assert earlier.row == 1
    work.record(batch.id, 1, "ann", True, False)
    assert work.task(batch.id, 1, "ann").supported is False
    assert work.task(batch.id, 1, "bob").supported is None
    assert work.progress(batch.id, "ann").mine == 2
    for wrong in ((True, None), (False, True), (True, True, "\0")):
        with pytest.raises(InvalidInput):
            work.record(batch.id, 3, "ann", *wrong)
    with pytest.raises(NotFound):
        work.record(batch.id, 99, "ann", False, None)
    with pytest.raises(NotFound):
        work.next(99, "ann")


def test_a_complete_triple_takes_no_further_rater_and_a_maintainer_may_close_early(
    services: Services, submission: Submission
) -> None:
    batch = services.assignments.open(services.sheets.make("small", author="m", method="all").id, "m")
    work = services.assignments
    for rater in ("ann", "bob"):
        work.record(batch.id, 1, rater, True, True)
    with pytest.raises(Conflict, match="completed"):
        work.record(batch.id, 1, "cec", True, True)
    task = work.next(batch.id, "cec")
    assert task is not None
    assert task.row == 2
    assert not services.ratings.preview("small", io.BytesIO(ratings_csv({"oslo": "Y"})), "x.csv").repeats
    work.close(batch.id)
    with services.database.reading() as session:
        assert len(labels_of(session, "small")) == 1
    services.ratings.revoke(batch.id, "m")
    with services.database.reading() as session:
        assert labels_of(session, "small") == {}
    with pytest.raises(Conflict):
        work.close(batch.id)


def test_raters_at_once_lose_no_answer(services: Services, submission: Submission) -> None:
    batch = services.assignments.open(services.sheets.make("small", author="m", method="all").id, "m")
    closed: list[bool] = []
    errors: list[BaseException] = []

    def rate(rater: str) -> None:
        own = build(services.settings).assignments
        try:
            while task := own.next(batch.id, rater):
                try:
                    closed.append(own.record(batch.id, task.row, rater, True, True))
                except Conflict:
                    continue
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=rate, args=(name,)) for name in ("ann", "bob", "cec", "dan")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert Counter(closed) == {True: 1, False: 5}
    with services.database.reading() as session:
        assert session.get_one(RatingBatch, batch.id).applied_at is not None
        assert {label.raters for label in labels_of(session, "small").values()} == {2}
