"""Maintainers look after jobs: filters, reasons, trying again and calling off, on the page and at the API."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select, update

from core.audit import Actor, acting
from core.errors import Conflict, LeaseLost, NotFound
from core.queue import CANCELLED
from core.records import Judgment, Pair
from core.tables import AuditEvent, Job, RunRow, Submission, Webhook, WebhookDelivery
from server import evaluations, job_desk, runs, web, webhooks
from server.bootstrap import Services, build
from server.evaluations import CHUNK, FINISH
from server.job_desk import Chosen
from server.job_subjects import TITLES
from server.jobs import JOBS
from server.worker import Worker
from tests.small_benchmark import GOOD, add_benchmark, add_team
from tests.small_benchmark import submit as send
from tests.web_client import API, bearer, csrf, sign_in, submit, token


class Judge:
    """Does what the test wants done while it judges."""

    key, title, help, score_name = "meddling", "Meddling", "For tests.", "test score"
    signature = "judge:meddling@1"

    def __init__(self) -> None:
        self.meanwhile: Any = lambda: None
        self.asked = 0

    def judge(self, pairs: list[Pair]) -> list[Judgment]:
        self.asked += len(pairs)
        self.meanwhile()
        return [Judgment(0.9, "1") for _ in pairs]


@pytest.fixture
def judge(services: Services) -> Judge:
    made = Judge()
    services.__dict__["scorer"] = services.scorer_with(made)
    return made


def house(services: Services) -> dict[str, str]:
    return bearer(services, "house", "maintainer")


def jobs(services: Services, **chosen: str) -> list[job_desk.JobView]:
    with services.database.reading() as session:
        return job_desk.listed(services, session, Chosen(**chosen))


def stands(services: Services, at: str) -> tuple[str, str | None]:
    with services.database.reading() as session:
        row = session.get_one(Submission, at)
        return row.state, row.reason


def actions(services: Services, subject: object) -> list[str]:
    with services.database.reading() as session:
        mine = (AuditEvent.subject == str(subject), AuditEvent.action.like("job.%") | AuditEvent.action.like("queue.%"))
        return list(session.scalars(select(AuditEvent.action).where(*mine).order_by(AuditEvent.id)))


def test_every_kind_has_a_title() -> None:
    assert TITLES.keys() == JOBS.keys()


def test_a_job_shows_what_it_is_about_and_who_has_it(client: FlaskClient, services: Services) -> None:
    at = submit(client, bearer(services))
    [job] = client.get(f"{API}/jobs", headers=house(services)).json["jobs"]
    assert (job["kind"], job["title"], job["about"], job["submission"]) == (
        "evaluate",
        "Score a submission",
        "S v1 of one",
        at,
    )
    assert (job["state"], job["queue"], job["attempt"], job["attempts"], job["worker"]) == ("queued", "cpu", 0, 3, None)
    assert (job["can_retry"], job["can_cancel"]) == (False, True)
    services.queue.claim(["cpu"], "machine:1:2")
    job = client.get(f"{API}/jobs/{job['id']}", headers=house(services)).json
    assert (job["state"], job["worker"], job["attempt"]) == ("running", "machine:1:2", 1)
    assert job["lease_until"] > job["heartbeat_at"]
    assert 0 <= job["age"] < 60


def test_filters_and_pages(client: FlaskClient, services: Services) -> None:
    at = submit(client, bearer(services))
    with services.database.transaction() as session:
        services.queue.add(session, CHUNK, f"{at}:00:ff", "gpu")
        services.queue.add(session, "inbox-poll", "owner/inbox")
    headers = house(services)

    def found(query: str) -> list[str]:
        return [each["kind"] for each in client.get(f"{API}/jobs?{query}", headers=headers).json["jobs"]]

    assert found("") == ["inbox-poll", CHUNK, "evaluate"]
    assert found("queue=gpu") == [CHUNK]
    assert found("kind=evaluate") == ["evaluate"]
    assert found("state=failed") == []
    assert found(f"subject={at}") == [CHUNK, "evaluate"]
    assert found("subject=owner/inbox") == ["inbox-poll"]
    assert found(f"subject={at[:4]}") == found("subject=%25") == []
    newest = client.get(f"{API}/jobs?limit=1", headers=headers).json["jobs"][0]["id"]
    assert found(f"before={newest}") == [CHUNK, "evaluate"]
    for wrong in ("state=lost", "queue=tpu", "limit=0", "before=x"):
        assert client.get(f"{API}/jobs?{wrong}", headers=headers).status_code == 400


def test_a_failed_job_tells_why_and_is_tried_again(client: FlaskClient, services: Services, judge: Judge) -> None:
    def broken() -> None:
        raise MemoryError

    judge.meanwhile = broken
    at = submit(client, bearer(services))
    for _ in range(services.queue.attempts):
        with services.database.transaction() as session:
            session.execute(update(Job).values(not_before=Job.created_at))
        Worker(services).run_one()
    [job] = jobs(services, state="failed")
    assert "MemoryError" in (job.reason or "")
    assert stands(services, at)[0] == "failed"
    judge.meanwhile = lambda: None
    told = client.post(f"{API}/jobs/{job.id}/retry", headers=house(services))
    assert (told.status_code, told.json["state"], told.json["attempt"], told.json["reason"]) == (200, "queued", 0, None)
    assert stands(services, at) == ("queued", None)
    again = client.post(f"{API}/jobs/{job.id}/retry", headers=house(services))
    assert again.status_code == 409, "it waits already"
    Worker(services).run_until_idle()
    assert stands(services, at) == ("scored", None)
    assert actions(services, job.id) == ["job.retried"]


def test_a_cancelled_job_that_waits_is_never_done(client: FlaskClient, services: Services, judge: Judge) -> None:
    at = submit(client, bearer(services))
    [job] = jobs(services)
    told = client.post(f"{API}/jobs/{job.id}/cancel", headers=house(services))
    assert (told.status_code, told.json["state"], told.json["reason"]) == (200, "cancelled", CANCELLED)
    assert stands(services, at) == ("failed", CANCELLED)
    assert CANCELLED in client.get(f"{API}/submissions/{at}", headers=bearer(services)).json["reason"]
    assert Worker(services).run_until_idle() == 0
    assert judge.asked == 0
    assert client.post(f"{API}/jobs/{job.id}/cancel", headers=house(services)).status_code == 409
    with services.database.reading() as session:
        event = session.scalars(select(AuditEvent).where(AuditEvent.action == "job.cancelled")).one()
    assert (event.actor, event.details) == ("token", {"kind": "evaluate", "of": at})
    client.post(f"{API}/jobs/{job.id}/retry", headers=house(services))
    Worker(services).run_until_idle()
    assert stands(services, at) == ("scored", None)


def test_a_cancelled_job_in_hand_stops_and_cannot_finish(services: Services, judge: Judge, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    services.scorer.judge_chunk = 1  # so that it tells how far it is after every pair
    at = send(services, add_team(services)).id
    judge.meanwhile = lambda: judge.asked == 1 and job_desk.cancel(services, jobs(services)[0].id)
    Worker(services).run_until_idle()
    assert judge.asked < 3, "the other pairs need not be judged"
    assert stands(services, at) == ("failed", CANCELLED), "the worker's word does not come after the maintainer's"
    assert [job.state for job in jobs(services)] == ["cancelled"]


def test_what_finishes_after_the_cancelling_is_refused(services: Services, judge: Judge, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    at = send(services, add_team(services)).id
    claim = services.queue.claim(["cpu"], "w")
    assert claim is not None
    job_desk.cancel(services, claim.id)
    with pytest.raises(LeaseLost, match="cancelled"):
        services.queue.heartbeat(claim)
    with pytest.raises(LeaseLost):
        evaluations.evaluate(services, claim)
    assert stands(services, at) == ("failed", CANCELLED)


def test_scores_that_were_there_stay_when_a_new_evaluation_is_cancelled(services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    at = send(services, add_team(services)).id
    Worker(services).run_until_idle()
    with services.database.transaction() as session:
        job = services.queue.add(session, "evaluate", at)
    job_desk.cancel(services, job.id)
    assert stands(services, at) == ("scored", CANCELLED)


def test_parts_of_one_evaluation_are_cancelled_and_retried_as_one(services: Services, tmp_path: Path) -> None:
    split = build(dataclasses.replace(services.settings, fanout_pairs=1))
    add_benchmark(split, tmp_path / "files")
    at = send(split, add_team(split)).id
    worker = Worker(split)
    worker.run_one()
    worker.run_one()
    assert sorted(job.state for job in jobs(split, kind=CHUNK)) == ["done", "queued", "queued"]
    first = jobs(split, kind=CHUNK, state="queued")[0]
    job_desk.cancel(split, first.id)
    assert sorted(job.state for job in jobs(split, kind=CHUNK)) == ["cancelled", "cancelled", "done"]
    assert stands(split, at) == ("failed", CANCELLED)
    assert worker.run_until_idle() == 0
    job_desk.retry(split, first.id)
    assert stands(split, at)[0] == "queued"
    worker.run_until_idle()
    assert stands(split, at) == ("scored", None)
    assert [job.state for job in jobs(split, kind=FINISH)] == ["done"]
    split.database.engine.dispose()


def test_runs_and_messages_are_told_too(services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    run, team = "0123456789ab", add_team(services)
    with services.database.transaction() as session:
        session.add(RunRow(id=run, team_id=team, benchmark_id="small", system="RTR-4", plan={}))
        services.queue.add(session, runs.KIND, run)
        hook = Webhook(team_id=team, url="https://example.org/", secret="whsec_x")
        session.add(hook)
        session.flush()
        message = webhooks.ping(session, services.queue, hook)
    for job in jobs(services):
        job_desk.cancel(services, job.id)
    with services.database.reading() as session:
        delivery = session.get_one(WebhookDelivery, message.id)
    assert (delivery.state, delivery.reason) == ("failed", CANCELLED)
    assert (runs.get(services, run).state, runs.get(services, run).reason) == ("failed", CANCELLED)
    for job in jobs(services):
        assert job.about in ("RTR-4 on small", "ping to team")
        job_desk.retry(services, job.id)
    assert (runs.get(services, run).state, runs.get(services, run).reason) == ("queued", None)
    with services.database.reading() as session:
        assert session.get_one(WebhookDelivery, message.id).state == "queued"


def test_unknown_jobs_and_jobs_of_what_is_gone(client: FlaskClient, services: Services) -> None:
    with pytest.raises(NotFound):
        job_desk.one(services, 999)
    for path in ("999", "x", "99999999999"):
        assert client.post(f"{API}/jobs/{path}/retry", headers=house(services)).status_code == 404
    with services.database.transaction() as session:
        job = services.queue.add(session, "evaluate", "gone")
        job.state = "failed"
    with pytest.raises(Conflict, match="gone"):
        job_desk.retry(services, job.id)
    assert job_desk.retry_all(services, Chosen()) == 0, "what cannot be retried keeps nothing else from it"
    assert jobs(services)[0].state == "failed", "nothing was changed"
    assert jobs(services)[0].about == "gone"


def test_all_that_failed_are_retried_at_once(services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    team = add_team(services)
    for system in ("A", "B"):
        send(services, team, system=system)
    send(services, team, GOOD[:3], system="C")
    with services.database.transaction() as session:
        session.execute(update(Job).where(Job.id < 3).values(state="failed"))
    assert job_desk.retry_all(services, Chosen(kind="webhook")) == 0
    assert job_desk.retry_all(services, Chosen(kind="evaluate")) == 2
    assert [job.state for job in jobs(services)] == ["queued"] * 3


def test_queues_are_paused_and_resumed(client: FlaskClient, services: Services) -> None:
    submit(client, bearer(services))
    headers = house(services)
    [cpu, gpu] = client.post(f"{API}/queues/cpu/pause", headers=headers).json["queues"]
    assert (cpu["paused"], cpu["queued"], gpu["paused"]) == (True, 1, False)
    assert Worker(services).run_until_idle() == 0
    assert client.post(f"{API}/queues/tpu/pause", headers=headers).status_code == 404
    client.post(f"{API}/queues/cpu/resume", headers=headers)
    assert client.get(f"{API}/queues", headers=headers).json["queues"][0]["paused"] is False
    assert Worker(services).run_until_idle() == 1
    assert actions(services, "cpu") == ["queue.paused", "queue.resumed"]


def test_the_page_shows_filters_and_changes(services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    client = web.create(services).test_client()
    sign_in(client, token(services, "house", "maintainer"))
    assert "There was no job yet" in client.get("/jobs").text
    at = send(services, add_team(services, "<b>team")).id
    page = client.get("/jobs").text
    assert f"/submissions/{at}" in page
    assert "system v1 of &lt;b&gt;team" in page
    field = csrf(page)
    [job] = jobs(services)
    assert client.post(f"/jobs/{job.id}/cancel").status_code == 403, "without the form's token"
    answer = client.post(f"/jobs/{job.id}/cancel?state=queued&kind=evaluate", data={"csrf": field})
    assert (answer.status_code, answer.location) == (303, "/jobs?kind=evaluate&state=queued")
    assert CANCELLED in client.get("/jobs/live?state=cancelled").text
    assert "No job is like that" in client.get("/jobs/live?state=running").text
    answer = client.post(f"/jobs/{job.id}/cancel", data={"csrf": field})
    assert answer.status_code == 409
    assert "only jobs that wait or run can be cancelled" in answer.text
    assert client.post(f"/jobs/{job.id}/retry", data={"csrf": field}).status_code == 303
    assert client.post("/jobs/queues/cpu/pause", data={"csrf": field}).status_code == 303
    assert "paused" in client.get("/jobs/live").text
    for wrong in (f"/jobs/{job.id}/burn", "/jobs/queues/tpu/pause", "/jobs/queues/cpu/burn", "/jobs/x/retry"):
        assert client.post(wrong, data={"csrf": field}).status_code == 404
    assert client.get("/jobs?before=x").status_code == 404


def test_who_cancels_is_written_down(services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    send(services, add_team(services))
    with acting(Actor("command line:ada")):
        job_desk.cancel(services, jobs(services)[0].id)
    with services.database.reading() as session:
        found = session.scalars(select(AuditEvent.actor).where(AuditEvent.action == "job.cancelled"))
        assert list(found) == ["command line:ada"]


@pytest.mark.parametrize(
    ("seconds", "told"), [(0, "0 s"), (89, "89 s"), (90, "2 min"), (7_200, "2 h"), (200_000, "2 d")]
)
def test_time_spans(seconds: float, told: str) -> None:
    assert job_desk.lasting(seconds) == told
