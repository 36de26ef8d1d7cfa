"""Batches of ratings on both databases: what a preview says, what applying and revoking move, and nothing else."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from sqlalchemy import func, select

from core.errors import Conflict, NotFound, Refused
from core.records import Score
from core.tables import EvaluationRow, Job, RatingBatch, RatingRow, Submission, Team
from scorer.stored import read_scores
from server.bootstrap import Services, build
from server.worker import Worker
from tests.ratings_files import HEADER, TRIPLES, apply, labels_csv, preview, ratings_csv, table
from tests.small_benchmark import GOOD, OSLO, ROME, add_benchmark, add_team, submit

OTHER = [{**GOOD[1], "answer": "Milan"}, {**GOOD[0], "answer": "Bergen"}]


@pytest.fixture
def submission(services: Services, tmp_path: Path) -> Submission:
    """A scored submission whose first three answers are the triples of `ratings_files`."""
    add_benchmark(services, tmp_path / "files", raters_per_item=3)
    add_team(services)
    return scored(services, "system")


def scored(services: Services, name: str, rows: list[dict[str, str]] = GOOD) -> Submission:
    with services.database.reading() as session:
        team = session.scalars(select(Team.id)).one()
    found = submit(services, team, rows, name)
    Worker(services).run_until_idle()
    return found


def ais(services: Services, submission: Submission) -> Score:
    Worker(services).run_until_idle()
    with services.database.reading() as session:
        row = session.get_one(Submission, submission.id)
        assert row.state == "scored"
        return read_scores(session, row.evaluation_id or 0)["ais"]


def queued(services: Services) -> list[str]:
    with services.database.reading() as session:
        return sorted(session.scalars(select(Job.subject).where(Job.state == "queued")))


def count(services: Services, table: type) -> int:
    with services.database.reading() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def test_ratings_become_ais(services: Services, submission: Submission) -> None:
    apply(services, ratings_csv({"oslo": "YYN", "roma": "YNU", "nile": "YYY"}), note="first round")
    assert queued(services) == [submission.id]
    score = ais(services, submission)
    assert (score.value, score.n) == (0.5, 4)  # q3 is rated by rule: its attribution is unknown
    assert score.details["coverage"] == 1.0
    assert (score.details["labelled"], score.details["votes"], score.details["ties"]) == (3, 9, 0)
    assert (score.details["incomplete"], score.details["synthetic"]) == (0, False)
    with services.database.reading() as session:
        batch = session.scalars(select(RatingBatch)).one()
        assert (batch.author, batch.note, batch.file_name, batch.synthetic) == (
            "maintainer", "first round", "ratings.csv", False,
        )  # fmt: skip
        assert batch.applied_at is not None


def test_a_tie_is_not_attributable_and_too_few_votes_are_said(services: Services, submission: Submission) -> None:
    apply(services, ratings_csv({"oslo": "YN", "roma": "Y"}), synthetic=True)
    score = ais(services, submission)
    assert score.value == pytest.approx(1 / 3)
    assert score.details["bounds"] == [0.25, 0.5]
    assert score.details["coverage"] == 0.75
    assert {key: score.details[key] for key in ("ties", "incomplete", "votes", "synthetic")} == {
        "ties": 1, "incomplete": 2, "votes": 3, "synthetic": True,
    }  # fmt: skip


def test_pre_aggregated_labels_count_until_raters_have_spoken(services: Services, submission: Submission) -> None:
    apply(services, labels_csv({"oslo": "N", "roma": "Y"}))
    first = ais(services, submission)
    assert (first.value, first.details["pre_aggregated"], first.details["incomplete"]) == (pytest.approx(1 / 3), 2, 0)
    apply(services, ratings_csv({"oslo": "YYY"}))
    second = ais(services, submission)
    assert second.value == pytest.approx(2 / 3)
    assert second.details["pre_aggregated"] == 1


def test_only_the_submissions_whose_triples_are_rated_get_a_job(services: Services, submission: Submission) -> None:
    twin = scored(services, "twin", GOOD[:1])
    other = scored(services, "other", OTHER)
    gone = scored(services, "gone", GOOD[:2])
    services.intake.withdraw(gone.id, None)
    found = preview(services, ratings_csv({"oslo": "YYY"}))
    assert set(found.submissions) == {submission.id, twin.id, gone.id}
    apply(services, ratings_csv({"oslo": "YYY"}))
    assert queued(services) == sorted([submission.id, twin.id, gone.id])
    assert ais(services, other).reason == "No human has rated this system's answers yet."
    assert ais(services, twin).details["labelled"] == 1


def test_the_signature_follows_the_labels_and_comes_back(services: Services, submission: Submission) -> None:
    unrated = ais(services, submission).signature
    batch = apply(services, ratings_csv({"oslo": "YYY", "roma": "NNN", "nile": "YYN"}))
    rated = ais(services, submission)
    assert rated.signature != unrated
    services.ratings.revoke(batch.id, "second maintainer")
    assert queued(services) == [submission.id]
    again = ais(services, submission)
    assert again.signature == unrated
    assert again.value is None
    assert count(services, EvaluationRow) == 2
    assert count(services, RatingRow) == 9
    [stored] = services.ratings.batches("small")
    assert stored.revoked_by == "second maintainer"
    with pytest.raises(Conflict, match="revoked before"):
        services.ratings.revoke(batch.id, "x")
    with pytest.raises(NotFound):
        services.ratings.revoke(batch.id + 1, "x")


def test_a_later_batch_replaces_a_raters_word_and_its_revocation_brings_it_back(
    services: Services, submission: Submission
) -> None:
    apply(services, ratings_csv({"oslo": "YYN", "roma": "YYY", "nile": "YYY"}))
    assert ais(services, submission).value == 0.75
    later = ratings_csv({"oslo": "NNN"})
    found = preview(services, later)
    assert (found.new, found.repeats, found.verdicts_changed) == (0, 1, 1)
    assert [(c.row, c.rater, c.earlier, c.now) for c in found.conflicts] == [
        (1, "rater-1", True, False), (2, "rater-2", True, False),
    ]  # fmt: skip
    batch = apply(services, later)
    assert ais(services, submission).value == 0.5
    services.ratings.revoke(batch.id, "m")
    assert ais(services, submission).value == 0.75


def test_a_batch_that_changes_no_label_evaluates_nothing(services: Services, submission: Submission) -> None:
    apply(services, ratings_csv({"oslo": "YYY"}))
    Worker(services).run_until_idle()
    repeat = ratings_csv({"oslo": "YY"})
    assert preview(services, repeat).repeats == 2
    apply(services, repeat)
    assert queued(services) == []


def test_preview_writes_nothing_and_counts_what_is_new(services: Services, submission: Submission) -> None:
    unheld = (TRIPLES["oslo"][0], "Trondheim", OSLO, "rater-1", "Y", "N")
    data = ratings_csv({"oslo": "YY"}) + table((), [unheld]).lstrip()
    found = preview(services, data)
    assert (found.kind, found.ratings, found.triples, found.new, found.new_labels) == ("rater-level", 3, 2, 3, 2)
    assert (found.repeats, found.conflicts, found.raters) == (0, (), ("rater-1", "rater-2"))
    assert [rating.answer for rating in found.unheld] == ["Trondheim"]
    assert found.submissions == (submission.id,)
    assert (count(services, RatingBatch), count(services, RatingRow), queued(services)) == (0, 0, [])


def test_one_file_is_applied_once_while_it_counts(services: Services, submission: Submission) -> None:
    data = ratings_csv({"oslo": "YYY"})
    batch = apply(services, data)
    assert preview(services, data).applied_as == batch.id
    with pytest.raises(Conflict, match=f"batch {batch.id}"):
        apply(services, data)
    services.ratings.revoke(batch.id, "m")
    assert preview(services, data).accepted
    apply(services, data)
    assert count(services, RatingBatch) == 2


def test_a_refused_file_leaves_nothing_and_names_every_place(services: Services, submission: Submission) -> None:
    rows = [
        (*TRIPLES["oslo"], "rater-1", "Y", "Y"),
        (*TRIPLES["oslo"], " RATER-1", "Y", "N"),
        ("who is it", "Oslo", OSLO, "rater-1", "Y", "Y"),
        (TRIPLES["oslo"][0], "Oslo", "nowhere", "rater-1", "Y", "Y"),
        (*TRIPLES["roma"], "rater-1", "N", "N"),
        (*TRIPLES["roma"], "rater-2", "Y", ""),
        (*TRIPLES["roma"], "", "Y", "Y"),
        (TRIPLES["roma"][0], " ", ROME, "rater-3", "Y", "Y"),
        (TRIPLES["roma"][0], "Rome", "", "rater-3", "Y", "maybe"),
    ]
    data = table(HEADER, rows)
    with pytest.raises(Refused) as raised:
        apply(services, data)
    places = {(place.row, place.kind) for place in raised.value.places}
    assert places == {
        (2, "rated_twice"), (3, "unknown_question"), (4, "unknown_attribution"), (5, "bad_answer"),
        (6, "bad_answer"), (7, "no_rater"), (8, "empty_answer"), (9, "empty_attribution"), (9, "bad_answer"),
    }  # fmt: skip
    [twice] = [place for place in raised.value.places if place.kind == "rated_twice"]
    assert "row 1" in twice.message
    found = preview(services, data)
    assert not found.accepted
    assert found.unknown_ids == 2
    assert (count(services, RatingBatch), count(services, RatingRow), queued(services)) == (0, 0, [])


def test_what_cannot_be_rated_is_left_out_if_asked(services: Services, submission: Submission) -> None:
    rows = [
        (*TRIPLES["oslo"], "rater-1", "Y", "Y"),
        ("what is the capital of italy", "x", "nowhere", "rater-1", "Y", "N"),
    ]
    found = preview(services, table(HEADER, rows), skip_unknown=True)
    assert (found.accepted, found.ratings, found.report.counts["unknown_attribution"]) == (True, 1, 1)
    apply(services, table(HEADER, rows), skip_unknown=True)
    assert count(services, RatingRow) == 1


def test_names_become_pseudonyms_of_this_installation(services: Services, submission: Submission) -> None:
    rows = [
        (*TRIPLES[name], rater, "Y", "Y") for name, rater in (("oslo", "Ada@Example.org"), ("roma", "ada@example.org "))
    ]
    found = preview(services, table(HEADER, rows))
    [pseudonym] = found.raters
    assert pseudonym.startswith("rater-")
    assert "ada" not in pseudonym
    apply(services, table(HEADER, rows))
    with services.database.reading() as session:
        assert set(session.scalars(select(RatingRow.rater))) == {pseudonym}


def test_near_hits_are_counted_apart(services: Services, submission: Submission) -> None:
    spelled = scored(services, "spelled", [{**GOOD[0], "answer": "the oslo."}, GOOD[1]])
    apply(services, ratings_csv({"oslo": "YYY", "roma": "NNN"}))
    assert queued(services) == sorted([submission.id, spelled.id])
    score = ais(services, spelled)
    assert score.details["labelled"] == 1
    assert score.details["near"] == {"hits": 1, "attributable": 1, "value_with": pytest.approx(1 / 4)}
    assert score.value == 0.0


def test_labels_that_move_during_an_evaluation_are_not_missed(services: Services, submission: Submission) -> None:
    """A batch applied after the worker has read the labels and before it stores: the old scores must not win."""
    scorer = services.scorer
    measured = type(scorer)._measured
    late = ratings_csv({"oslo": "YYY"})

    def slow(self, *args):
        nonlocal late
        result = measured(self, *args)
        if late:
            data, late = late, b""
            apply(services, data)
        return result

    apply(services, ratings_csv({"roma": "YYY"}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(scorer), "_measured", slow)
        scorer.evaluate(submission.id)
    with services.database.reading() as session:
        row = session.get_one(Submission, submission.id)
        assert read_scores(session, row.evaluation_id)["ais"].details["labelled"] == 2


@pytest.mark.service
def test_batches_and_workers_at_once_end_with_the_newest_labels(services: Services, submission: Submission) -> None:
    errors: list[BaseException] = []
    stop = threading.Event()

    def work() -> None:
        own = build(services.settings)
        try:
            while not stop.is_set():
                Worker(own).run_until_idle()
        except BaseException as error:
            errors.append(error)

    def rate(rater: int) -> None:
        own = build(services.settings)
        try:
            for name in TRIPLES:
                apply(own, ratings_csv({name: "Y" if rater % 2 else "N"}, raters=rater))
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=work) for _ in range(2)]
    raters = [threading.Thread(target=rate, args=(number,)) for number in range(1, 6)]
    for thread in workers + raters:
        thread.start()
    for thread in raters:
        thread.join()
    stop.set()
    for thread in workers:
        thread.join()
    assert errors == []
    score = ais(services, submission)
    assert (score.details["votes"], score.value) == (15, 0.75)
