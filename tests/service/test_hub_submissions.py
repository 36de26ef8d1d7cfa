"""Commits as submissions: in by the same door, scores out as commits, private until published."""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from huggingface_hub import CommitOperationAdd
from huggingface_hub.errors import (
    BadRequestError,
)
from sqlalchemy import select, update

from core.errors import Unavailable
from core.tables import Job, RepoCommit, Submission, SubmissionSource
from server.hub import outputs
from server.worker import Worker
from tests.command_line import runner
from tests.hub_server import SYSTEM_YAML, Hub
from tests.small_benchmark import GOOD, OSLO, jsonl

OUTPUTS = ["examples.parquet", "report.json", "scores.json"]


def report(hub: Hub, api: object, repo: str = "one/sys") -> dict[str, object]:
    """The newest `report.json`."""
    return dict(json.loads(hub.fetch(api, repo, "report.json")))


def submissions(hub: Hub) -> list[Submission]:
    """All submissions, oldest first."""
    with hub.services.database.reading() as session:
        return list(session.scalars(select(Submission).order_by(Submission.created_at)))


def test_predictions_come_back_scored(any_hub: Hub) -> None:
    hub = any_hub
    api = hub.api()
    source = hub.push(api, "one/sys")
    hub.work()
    (entry,) = submissions(hub)
    assert (entry.state, entry.benchmark_id, entry.file_name) == ("scored", "small", "predictions.jsonl")
    files = sorted(api.list_repo_files("one/sys", repo_type="dataset"))
    assert files == sorted(["predictions.jsonl", "system.yaml", *OUTPUTS])
    scores = json.loads(hub.fetch(api, "one/sys", "scores.json"))
    assert scores["metrics"]["em"]["value"] == pytest.approx(3 / 5)
    table = pq.read_table(io.BytesIO(hub.fetch(api, "one/sys", "examples.parquet")))
    assert table.column("answer").to_pylist() == [row["answer"] for row in GOOD]
    told = report(hub, api)
    assert (told["accepted"], told["submission"], told["state"]) == (True, entry.id, "scored")
    assert (told["system"], told["version"], told["commit"], told["error"]) == ("sys", 1, source, None)
    assert {key: told[key] for key in entry.report} == entry.report
    newest = api.list_repo_commits("one/sys", repo_type="dataset")[0]
    assert (newest.title, newest.authors) == ("Add scores", ["aqa-leaderboard"])
    with hub.services.database.reading() as session:
        kept = session.get_one(SubmissionSource, entry.id).reference
    assert kept == f"hub/datasets/one/sys/predictions.jsonl@{source}"


@pytest.mark.parametrize("rated", [False, True])
def test_scores_are_exactly_those_of_the_command_line(
    any_hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], rated: bool
) -> None:
    hub, api = any_hub, any_hub.api()
    if rated:  # with ratings there are details within details
        rows = "question,answer,attribution,rater,interpretable,supported\n" + "".join(
            f"what is the capital of norway,Oslo,{OSLO},r{rater},Y,Y\n" for rater in range(5)
        )
        hub.services.ratings.apply("small", io.BytesIO(rows.encode()), "r.csv", author="test")
    hub.push(api, "one/sys")
    hub.work()
    file = tmp_path / "predictions.jsonl"
    file.write_bytes(jsonl(GOOD))
    aqa = runner(hub.services.settings, monkeypatch, capsys)
    ended = aqa("score", file, "--benchmark", "small", "--out", tmp_path / "out", "--kind", "parquet")
    assert ended.code == 0, ended.err
    for name in ("scores.json", "examples.parquet"):
        assert hub.fetch(api, "one/sys", name) == (tmp_path / "out" / name).read_bytes(), name


def test_a_refused_file_gets_its_report_alone(any_hub: Hub) -> None:
    hub = any_hub
    api = hub.api()
    hub.push(api, "one/sys")
    hub.work()
    hub.push(api, "one/sys", data=b'{"question": "q", "answer": 1\n')
    hub.work()
    assert len(submissions(hub)) == 1
    files = sorted(api.list_repo_files("one/sys", repo_type="dataset"))
    assert files == ["predictions.jsonl", "report.json", "system.yaml"]
    told = report(hub, api)
    assert (told["accepted"], told["submission"], told["error"]["code"]) == (False, None, "refused")
    with pytest.raises(Exception) as refused:
        hub.services.intake.accept(1, "small", _card(), io.BytesIO(b'{"question": "q", "answer": 1\n'), "p.jsonl")
    assert told["error"]["message"] == refused.value.message
    assert told["places"][0]["row"] == 1
    hub.push(api, "one/sys", data=jsonl(GOOD[:4]))
    hub.work()
    assert report(hub, api)["version"] == 2
    assert set(OUTPUTS) <= set(api.list_repo_files("one/sys", repo_type="dataset"))


def _card() -> object:
    from submissions.intake import SystemCard

    return SystemCard("sys")


@pytest.mark.parametrize(
    ("system", "says"),
    [
        (b"benchmark: nowhere\n", "nowhere"),
        (b"architecture: retrieve-then-read\n", "names no benchmark"),
        (b"benchmark: small\narchitecure: x\n", "unknown key 'architecure'"),
        (b"benchmark: small\narchitecture: magic\n", "no architecture 'magic'"),
        (b"benchmark: small\nuses_autoais: maybe\n", "uses_autoais is not true or false"),
        (b"benchmark: [small\n", "not YAML"),
        (b"a: &a [1]\nb: *a\n", "aliases"),
        (b"- small\n", "keys and values"),
        (b"\xc3\x28", "not YAML"),
    ],
)
def test_wrong_metadata_is_told_at_once_and_in_the_report(
    hub: Hub, caplog: pytest.LogCaptureFixture, system: bytes, says: str
) -> None:
    api = hub.api()
    with caplog.at_level(logging.WARNING):
        hub.push(api, "one/sys", system)
    assert says in caplog.text
    hub.work()
    told = report(hub, api)
    assert told["accepted"] is False
    assert says in told["error"]["message"]
    assert submissions(hub) == []
    api.upload_file(path_or_fileobj=SYSTEM_YAML, path_in_repo="system.yaml", repo_id="one/sys", repo_type="dataset")
    hub.work()
    assert len(submissions(hub)) == 1, "mended metadata takes the waiting predictions in"
    assert report(hub, api)["accepted"] is True


def test_predictions_wait_for_their_metadata(hub: Hub, caplog: pytest.LogCaptureFixture) -> None:
    api = hub.api()
    api.create_repo("one/sys", repo_type="dataset")
    with caplog.at_level(logging.WARNING):
        api.upload_file(
            path_or_fileobj=jsonl(GOOD), path_in_repo="predictions.jsonl", repo_id="one/sys", repo_type="dataset"
        )
    assert "add system.yaml" in caplog.text
    hub.work()
    assert submissions(hub) == []
    readme = b"---\nlicense: mit\nbenchmark: small\narchitecture: post-hoc-retrieval\nname: My System\n---\n# Hello\n"
    api.upload_file(path_or_fileobj=readme, path_in_repo="README.md", repo_id="one/sys", repo_type="dataset")
    hub.work()
    (entry,) = submissions(hub)
    with hub.services.database.reading() as session:
        system = session.get_one(Submission, entry.id).system
        assert (system.name, system.architecture) == ("My System", "post-hoc-retrieval")
    api.upload_file(path_or_fileobj=readme + b"More.", path_in_repo="README.md", repo_id="one/sys", repo_type="dataset")
    hub.work()
    assert len(submissions(hub)) == 1, "another text does not send the same predictions again"


def test_several_files_of_predictions_are_refused(hub: Hub) -> None:
    api = hub.api()
    api.create_repo("one/sys", repo_type="dataset")
    files = {"predictions.jsonl": jsonl(GOOD), "predictions.csv": b"question,answer,attribution\n"}
    operations = [CommitOperationAdd(path, data) for path, data in {**files, "system.yaml": SYSTEM_YAML}.items()]
    api.create_commit("one/sys", operations, commit_message="Both", repo_type="dataset")
    hub.work()
    assert "several files" in report(hub, api)["error"]["message"]


def test_quota_holds_here_too(hub: Hub) -> None:
    object.__setattr__(hub.services.settings, "submissions_per_day", 1)
    api = hub.api()
    hub.push(api, "one/sys")
    hub.work()
    hub.push(api, "one/sys", data=jsonl(GOOD[:4]))
    hub.work()
    assert report(hub, api)["error"]["code"] == "over_quota"


def test_outputs_are_the_services_to_write(hub: Hub, tmp_path: Path) -> None:
    api = hub.api()
    hub.push(api, "one/sys")
    hub.work()
    for change in (
        lambda: api.upload_file(
            path_or_fileobj=b"{}", path_in_repo="scores.json", repo_id="one/sys", repo_type="dataset"
        ),
        lambda: api.delete_file("report.json", "one/sys", repo_type="dataset"),
    ):
        with pytest.raises(BadRequestError, match="written by the service"):
            change()
    shot = api.snapshot_download("one/sys", repo_type="dataset", local_dir=tmp_path / "shot")
    head = api.repo_info("one/sys", repo_type="dataset").sha
    assert api.upload_folder(repo_id="one/sys", folder_path=shot, repo_type="dataset").oid == head, "nothing changed"


def test_jobs_done_twice_change_nothing(any_hub: Hub) -> None:
    hub = any_hub
    api = hub.api()
    hub.push(api, "one/sys")
    hub.work()
    before = api.repo_info("one/sys", repo_type="dataset").sha
    (entry,) = submissions(hub)
    with hub.services.database.transaction() as session:
        for kind, subject in ((outputs.GIVE, entry.id), ("hub-take", "1:1"), ("hub-take", "99:1"), (outputs.GIVE, "x")):
            session.add(Job(kind=kind, subject=subject))
    hub.work()
    assert api.repo_info("one/sys", repo_type="dataset").sha == before
    assert len(submissions(hub)) == 1
    with hub.services.database.reading() as session:
        assert {job.state for job in session.scalars(select(Job))} == {"done"}


def test_scores_of_older_predictions_do_not_stand_beside_newer_ones(hub: Hub) -> None:
    api = hub.api()
    hub.push(api, "one/sys")
    worker = Worker(hub.services)
    worker.run_one()  # takes the first in
    hub.push(api, "one/sys", data=jsonl(GOOD[:4]))
    hub.work()
    first, second = submissions(hub)
    with hub.services.database.reading() as session:
        kept = session.scalars(select(RepoCommit.submission_id).where(RepoCommit.by_service)).all()
    assert kept == [second.id]
    assert first.state == second.state == "scored"


def test_a_failed_evaluation_is_told_in_the_report(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("out of order")

    api = hub.api()
    hub.push(api, "one/sys")
    Worker(hub.services).run_one()
    with monkeypatch.context() as patch:
        patch.setattr("scorer.evaluate.Scorer.evaluate", broken)
        _run_through_attempts(hub)
    told = report(hub, api)
    assert (told["accepted"], told["state"], told["error"]["code"]) == (True, "failed", "failed")
    assert "scores.json" not in api.list_repo_files("one/sys", repo_type="dataset")


def test_a_fault_of_ours_in_taking_a_commit_is_told(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object, **__: object) -> None:
        raise Unavailable("The store is away.")

    api = hub.api()
    hub.push(api, "one/sys")
    with monkeypatch.context() as patch:
        patch.setattr("submissions.intake.Intake.accept", away)
        _run_through_attempts(hub)
    assert "The store is away." in report(hub, api)["error"]["message"]


def _run_through_attempts(hub: Hub) -> None:
    """Work on, however long the pause between attempts."""
    for _ in range(6):
        with hub.services.database.transaction() as session:
            session.execute(update(Job).values(not_before=Job.created_at))
        hub.work()
