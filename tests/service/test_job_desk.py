"""Maintainers look after jobs: filters, reasons and queues, on the page and at the API."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from core.audit import Actor, acting
from core.queue import CANCELLED
from core.tables import AuditEvent, Job
from server import job_desk, web
from server.bootstrap import Services
from server.evaluations import CHUNK
from server.job_subjects import TITLES
from server.jobs import JOBS
from server.worker import Worker
from tests.job_views import actions, house, jobs
from tests.small_benchmark import add_benchmark, add_team
from tests.small_benchmark import submit as send
from tests.web_client import API, bearer, csrf, sign_in, submit, token


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
    assert job["started_at"] is job["busy"] is None
    services.queue.claim(["cpu"], "machine:1:2")
    job = client.get(f"{API}/jobs/{job['id']}", headers=house(services)).json
    assert (job["state"], job["worker"], job["attempt"]) == ("running", "machine:1:2", 1)
    assert job["lease_until"] > job["heartbeat_at"]
    assert 0 <= job["busy"] <= job["age"]
    assert job["created_at"] <= job["started_at"]


def test_waiting_and_working_are_told_apart(services: Services) -> None:
    with services.database.transaction() as session:
        job = services.queue.add(session, "inbox-poll", "owner/inbox")
        job.created_at -= timedelta(hours=3)
    assert job_desk.one(services, job.id).time == "waits 3 h"
    claim = services.queue.claim(["cpu"], "machine:1:2")
    assert claim is not None
    assert re.fullmatch(r"runs \d+ s", job_desk.one(services, job.id).time)
    with services.database.transaction() as session:
        services.queue.finish(session, claim)
        session.get_one(Job, job.id).started_at -= timedelta(minutes=5)
    assert job_desk.one(services, job.id).time == "took 5 min"


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
    ended = client.get("/jobs/live?state=cancelled").text
    assert CANCELLED in ended
    assert re.search(r">ended after \d+ s</td>", ended)
    assert re.search(r">waits \d+ s</td>", page)
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
