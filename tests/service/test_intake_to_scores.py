"""From a file to stored scores, on both databases: one transaction in, one transaction out, nothing twice."""

from __future__ import annotations

import dataclasses
import io
import threading
from pathlib import Path

import pytest
from sqlalchemy import func, select

from core.errors import Conflict, Forbidden, InvalidInput, NotFound, OverQuota, Refused, TooLarge
from core.records import Judgment, Pair
from core.tables import EvaluationRow, Job, JudgmentRow, PredictionRow, ScoreRow, Submission, System
from scorer.stored import read_scores, read_values
from server.bootstrap import Services, build
from server.worker import Worker
from submissions.intake import SystemCard
from tests.small_benchmark import GOOD, add_benchmark, add_team, jsonl, submit


@pytest.fixture
def team(services: Services, tmp_path: Path) -> int:
    add_benchmark(services, tmp_path / "files")
    return add_team(services)


def count(services: Services, table: type) -> int:
    with services.database.reading() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def reread(services: Services, submission_id: str) -> Submission:
    with services.database.reading() as session:
        return session.get_one(Submission, submission_id)


def counts_of_everything(services: Services) -> list[int]:
    tables = (Submission, System, PredictionRow, Job, EvaluationRow, ScoreRow)
    return [count(services, table) for table in tables] + [len(list(services.blobs.keys()))]


class Recording:
    """A judge that remembers what it was asked and can be told to fail."""

    key, title, help, score_name = "recording", "Recording", "For tests.", "test score"
    signature = "judge:recording@1"

    def __init__(self) -> None:
        self.asked: list[Pair] = []
        self.fail_after = 10**9

    def judge(self, pairs: list[Pair]) -> list[Judgment]:
        if len(self.asked) >= self.fail_after:
            raise MemoryError("out of memory")
        self.asked += pairs
        return [Judgment(0.9 if pair.answer in pair.premise else 0.1, "1") for pair in pairs]


@pytest.fixture
def judge(services: Services) -> Recording:
    judge = Recording()
    services.__dict__["scorer"] = services.scorer_with(judge)
    return judge


def test_a_file_becomes_scores(services: Services, team: int, judge: Recording) -> None:
    submission = submit(services, team, publish=True)
    assert submission.report["counts"]["matched"] == 5
    assert submission.report["counts"]["joined_loosely"] == 1
    assert Worker(services).run_until_idle() == 1
    done = reread(services, submission.id)
    assert (done.state, done.progress, done.reason) == ("scored", 1.0, None)
    with services.database.reading() as session:
        scores = read_scores(session, done.evaluation_id)
        p = read_values(session, done.evaluation_id, "autoais_p")
    assert {key: scores[key].value for key in ("em", "em_compat", "autoais", "ais")} == {
        "em": 0.6, "em_compat": 0.8, "autoais": 0.4, "ais": None,
    }  # fmt: skip
    assert scores["autoais"].details["counts"] == {
        "judged": 3, "near_threshold": 0, "unknown_attribution": 1, "absent_answer": 1,
    }  # fmt: skip
    assert scores["ais"].reason == "No human has rated this system's answers yet."
    assert scores["em"].signature.startswith("em|bench:small@")
    assert judge.signature in scores["autoais"].signature
    assert p[:3].tolist() == [0.9, 0.1, 0.9]
    assert judge.asked[0].hypothesis == ("The answer to the question 'what is the capital of norway' is 'Oslo'")
    assert judge.asked[1].premise == "Rome, History. Rome is the capital of Italy,\nand has been since 1871."


def test_two_uploads_of_one_content_are_evaluated_once(services: Services, team: int, judge: Recording) -> None:
    first = submit(services, team)
    other = submit(services, add_team(services, "other"), list(reversed(GOOD)))
    Worker(services).run_until_idle()
    assert reread(services, first.id).evaluation_id == reread(services, other.id).evaluation_id is not None
    assert count(services, EvaluationRow) == 1
    assert len(judge.asked) == 3, "a pair is judged once, ever"


def test_the_same_content_again_is_refused_and_changes_nothing(services: Services, team: int) -> None:
    submission = submit(services, team)
    before = counts_of_everything(services)
    with pytest.raises(Conflict, match=submission.id):
        submit(services, team)
    assert counts_of_everything(services) == before


def test_versions_count_up(services: Services, team: int) -> None:
    assert [submit(services, team, GOOD[: 5 - n]).version for n in range(3)] == [1, 2, 3]
    assert submit(services, team, system="another").version == 1


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", Refused),
        (b"question,answer\nx,y\n", Refused),
        (jsonl([*GOOD, GOOD[0]]), Refused),
        (b'question,answer,attribution\n"what is,x,y\n', Refused),
        ("question\n".encode("utf-16"), Refused),
        (b"x" * (65 * 2**20), TooLarge),
    ],
)
def test_a_bad_file_changes_nothing(services: Services, team: int, data: bytes, error: type[Exception]) -> None:
    before = counts_of_everything(services)
    with pytest.raises(error):
        services.intake.accept(team, "small", SystemCard("s", "other"), io.BytesIO(data), "p.csv")
    assert counts_of_everything(services) == before


def test_validating_stores_nothing(services: Services, team: int) -> None:
    before = counts_of_everything(services)
    accepted = services.intake.validate("small", io.BytesIO(jsonl(GOOD)), "p.jsonl")
    assert accepted.report.accepted
    assert counts_of_everything(services) == before


@pytest.mark.parametrize(
    "card",
    [
        SystemCard("", "other"),
        SystemCard("x" * 121, "other"),
        SystemCard("x", "transformer"),
        SystemCard("x", "other", links=("javascript:alert(1)",)),
    ],
)
def test_a_bad_card_is_refused(services: Services, team: int, card: SystemCard) -> None:
    with pytest.raises(InvalidInput):
        services.intake.accept(team, "small", card, io.BytesIO(jsonl(GOOD)), "p.jsonl")


def test_an_unknown_benchmark_names_those_there_are(services: Services, team: int) -> None:
    with pytest.raises(NotFound) as raised:
        services.intake.validate("large", io.BytesIO(b""), "p.csv")
    assert raised.value.hint == "Benchmarks here: small."


def test_the_quota_is_exact_under_simultaneous_uploads(services: Services, team: int) -> None:
    services.intake.settings = dataclasses.replace(services.settings, submissions_per_day=4)
    refused: list[Exception] = []

    def send(number: int) -> None:
        try:
            submit(services, team, [{**GOOD[0], "answer": str(number)}])
        except OverQuota as error:
            refused.append(error)

    threads = [threading.Thread(target=send, args=(n,)) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (count(services, Submission), len(refused)) == (4, 6)
    with services.database.reading() as session:
        versions = session.scalars(select(Submission.version)).all()
    assert sorted(versions) == [1, 2, 3, 4]


def test_what_the_platform_failed_does_not_burn_quota(services: Services, team: int, judge: Recording) -> None:
    services.intake.settings = dataclasses.replace(services.settings, submissions_per_day=1)
    judge.fail_after = 0
    submission = submit(services, team)
    impatient = Worker(services)
    for _ in range(3):
        impatient.run_one()
        with services.database.transaction() as session:
            session.query(Job).update({Job.not_before: Job.created_at})
    failed = reread(services, submission.id)
    assert failed.state == "failed"
    assert "MemoryError" in failed.reason
    assert submit(services, team).version == 2


def test_only_the_owner_publishes_and_withdraws(services: Services, team: int, judge: Recording) -> None:
    submission = submit(services, team)
    stranger = add_team(services, "stranger")
    with pytest.raises(Forbidden):
        services.intake.publish(submission.id, stranger)
    assert services.intake.publish(submission.id, team).published_at is not None
    assert services.intake.withdraw(submission.id, None).withdrawn_at is not None
    assert services.intake.publish(submission.id, team).withdrawn_at is None
    with pytest.raises(NotFound):
        services.intake.publish("nothing", team)


def test_a_run_that_died_resumes_from_the_judgments_it_wrote(services: Services, team: int, judge: Recording) -> None:
    services.scorer.judge_chunk = 1
    submission = submit(services, team)
    judge.fail_after = 2
    Worker(services).run_one()
    assert count(services, JudgmentRow) == 2
    judge.fail_after = 10**9
    with services.database.transaction() as session:
        session.query(Job).update({Job.not_before: Job.created_at})
    Worker(services).run_one()
    assert reread(services, submission.id).state == "scored"
    assert len(judge.asked) == 3


def test_a_worker_that_lost_its_lease_stores_nothing(services: Services, team: int, judge: Recording) -> None:
    submission = submit(services, team)
    claim = services.queue.claim(["cpu"], "slow")
    with services.database.transaction() as session:
        session.query(Job).update({Job.fence: Job.fence + 1})
    from core.errors import LeaseLost
    from server.jobs import evaluate

    with pytest.raises(LeaseLost):
        evaluate(services, claim)
    assert count(services, EvaluationRow) == 0
    assert reread(services, submission.id).evaluation_id is None


def test_scores_are_the_same_on_every_machine(services: Services, team: int, settings, tmp_path: Path) -> None:
    submission = submit(services, team)
    Worker(services).run_until_idle()
    again = build(dataclasses.replace(settings, data_dir=str(tmp_path / "again"), database_url=""))
    again.database.ensure_current()
    add_benchmark(again, tmp_path / "files2")
    second = submit(again, add_team(again))
    Worker(again).run_until_idle()
    with services.database.reading() as one, again.database.reading() as two:
        left = read_scores(one, reread(services, submission.id).evaluation_id)
        right = read_scores(two, reread(again, second.id).evaluation_id)
    assert left == right
    again.database.engine.dispose()
