"""Jobs that fail or are called off, and are tried again: what their submissions, runs and messages are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select, update

from core.errors import Conflict, LeaseLost, NotFound
from core.queue import CANCELLED
from core.records import Judgment, Pair
from core.tables import AuditEvent, Job, RunRow, Webhook, WebhookDelivery
from server import evaluations, job_desk, runs, webhooks
from server.bootstrap import Services
from server.job_desk import Chosen
from server.worker import Worker
from tests.job_views import actions, house, jobs, stands
from tests.small_benchmark import GOOD, add_benchmark, add_team
from tests.small_benchmark import submit as send
from tests.web_client import API, bearer, submit


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
