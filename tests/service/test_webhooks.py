"""Webhooks: signed, once per evaluation, tried again until they are taken, and never into the private network."""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select, update

from core.tables import Job, WebhookDelivery
from core.tables.base import utc_now
from server import web, webhooks
from server.bootstrap import Services, build
from server.worker import Worker
from tests.hook_receiver import Receiver, receiving
from tests.small_benchmark import add_benchmark
from tests.web_client import API, bearer, csrf, sign_in, submit, token


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


@pytest.fixture
def inside(services: Services, tmp_path: Path) -> tuple[Services, FlaskClient]:
    """A service that may send to this machine."""
    allowed = build(dataclasses.replace(services.settings, webhook_private=True))
    add_benchmark(allowed, tmp_path / "files")
    return allowed, web.create(allowed).test_client()


def hurry(services: Services) -> None:
    """Let the next attempts begin now."""
    with services.database.transaction() as session:
        session.execute(
            update(Job).where(Job.kind == webhooks.KIND, Job.state == "queued").values(not_before=utc_now())
        )


def test_a_finished_evaluation_is_told_once_and_signed(
    inside: tuple[Services, FlaskClient], receiver: Receiver
) -> None:
    services, client = inside
    headers = bearer(services)
    hook = client.post(f"{API}/webhooks", headers=headers, json={"url": f"{receiver.url}/done?x=1"})
    assert hook.status_code == 201, hook.text
    secret = hook.json["secret"]
    assert secret not in client.get(f"{API}/webhooks", headers=headers).text
    at = submit(client, headers)
    submit(client, bearer(services, "two"))
    Worker(services).run_until_idle()
    [(path, got, body)] = receiver.got
    assert path == "/done?x=1"
    told = json.loads(body)
    assert (told["event"], told["submission"], told["state"], told["system"]) == (
        "submission.scored",
        at,
        "scored",
        "S",
    )
    stamp, signature = (part.split("=")[1] for part in got["aqa-signature"].split(","))
    expected = hmac.new(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    assert hmac.compare_digest(signature, expected)
    assert got["aqa-event"] == "submission.scored"
    with services.database.transaction() as session:
        services.queue.add(session, "evaluate", at)
    Worker(services).run_until_idle()
    assert len(receiver.got) == 1, "scoring anew after new ratings is no completion"


def test_a_failed_evaluation_is_told_too(
    inside: tuple[Services, FlaskClient], receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    services, client = inside
    headers = bearer(services)
    client.post(f"{API}/webhooks", headers=headers, json={"url": receiver.url})
    submit(client, headers)
    monkeypatch.setattr(type(services.scorer), "evaluate", _broken)
    for _ in range(services.settings.job_attempts):
        with services.database.transaction() as session:
            session.execute(update(Job).values(not_before=utc_now()))
        Worker(services).run_until_idle()
    [(_, _, body)] = receiver.got
    assert json.loads(body)["event"] == "submission.failed"
    assert "an unexpected error" in json.loads(body)["reason"].lower()


def _broken(*_: object, **__: object) -> int:
    raise RuntimeError("broken")


def test_it_is_tried_again_until_it_is_taken(inside: tuple[Services, FlaskClient], receiver: Receiver) -> None:
    services, client = inside
    headers = bearer(services)
    receiver.answers = [500, 302, 204]
    hook = client.post(f"{API}/webhooks", headers=headers, json={"url": receiver.url}).json["id"]
    assert client.post(f"{API}/webhooks/{hook}/ping", headers=headers).status_code == 202
    for attempt in (1, 2, 3):
        Worker(services).run_until_idle()
        assert len(receiver.got) == attempt, "the next attempt waits"
        with services.database.reading() as session:
            wait = session.scalar(select(Job.not_before).where(Job.kind == webhooks.KIND, Job.state == "queued"))
        if attempt < 3:
            assert 0 < (wait - utc_now()).total_seconds() <= webhooks.RETRY_SECONDS[attempt - 1]
        hurry(services)
    assert len({body for _, _, body in receiver.got}) == 1
    [told] = client.get(f"{API}/webhooks/{hook}/deliveries", headers=headers).json["deliveries"]
    assert (told["state"], told["attempts"], told["reason"]) == ("delivered", 3, None)


def test_it_is_given_up_in_the_end_with_a_reason(inside: tuple[Services, FlaskClient], receiver: Receiver) -> None:
    services, client = inside
    headers = bearer(services)
    receiver.answers = [503]
    hook = client.post(f"{API}/webhooks", headers=headers, json={"url": receiver.url}).json["id"]
    client.post(f"{API}/webhooks/{hook}/ping", headers=headers)
    for _ in range(12):
        hurry(services)
        Worker(services).run_until_idle()
    [told] = client.get(f"{API}/webhooks/{hook}/deliveries", headers=headers).json["deliveries"]
    assert (told["state"], told["attempts"]) == ("failed", 1 + len(webhooks.RETRY_SECONDS))
    assert "503" in told["reason"]
    assert len(receiver.got) == told["attempts"]


def test_a_removed_webhook_gets_nothing_more(inside: tuple[Services, FlaskClient], receiver: Receiver) -> None:
    services, client = inside
    headers = bearer(services)
    hook = client.post(f"{API}/webhooks", headers=headers, json={"url": receiver.url}).json["id"]
    client.post(f"{API}/webhooks/{hook}/ping", headers=headers)
    assert client.delete(f"{API}/webhooks/{hook}", headers=headers).status_code == 204
    assert Worker(services).run_until_idle() == 1
    assert receiver.got == []
    with services.database.reading() as session:
        assert session.scalars(select(WebhookDelivery)).all() == []


@pytest.mark.parametrize("url", ["http://127.0.0.1:6379/", "https://169.254.169.254/latest", "https://localhost/", "x"])
def test_private_addresses_are_refused_when_they_are_added(client: FlaskClient, services: Services, url: str) -> None:
    headers = bearer(services)
    answer = client.post(f"{API}/webhooks", headers=headers, json={"url": url})
    assert (answer.status_code, answer.json["error"]["code"]) == (400, "invalid_input")
    assert client.get(f"{API}/webhooks", headers=headers).json["webhooks"] == []


def test_and_when_they_turn_private_later(
    client: FlaskClient, services: Services, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = bearer(services)
    with monkeypatch.context() as patch:
        patch.setattr(webhooks, "check_url", lambda url, private: url)
        hook = client.post(f"{API}/webhooks", headers=headers, json={"url": receiver.url}).json["id"]
    client.post(f"{API}/webhooks/{hook}/ping", headers=headers)
    Worker(services).run_until_idle()
    [told] = client.get(f"{API}/webhooks/{hook}/deliveries", headers=headers).json["deliveries"]
    assert "private network" in told["reason"]
    assert receiver.got == []


def test_a_team_has_few_of_them_and_a_page(inside: tuple[Services, FlaskClient], receiver: Receiver) -> None:
    services, client = inside
    sign_in(client, token(services, "one"))
    field = {"csrf": csrf(client.get("/team").text)}
    bad = client.post("/team/webhooks", data={"url": "ftp://x"} | field)
    assert (bad.status_code, "not an address to send to" in bad.text) == (400, True)
    added = client.post("/team/webhooks", data={"url": f'{receiver.url}/"><script>'} | field)
    assert (added.status_code, added.text.count("whsec_"), "<script>" in added.text) == (200, 1, False)
    assert client.post("/team/webhooks/1/ping", data=field).status_code == 303
    Worker(services).run_until_idle()
    assert "ping, delivered" in client.get("/team").text
    assert client.post("/team/webhooks/1/what", data=field).status_code == 404
    assert client.post("/team/webhooks/1/remove", data=field).status_code == 303
    headers = bearer(services)
    for _ in range(services.settings.webhooks_per_team):
        assert client.post(f"{API}/webhooks", headers=headers, json={"url": receiver.url}).status_code == 201
    assert client.post(f"{API}/webhooks", headers=headers, json={"url": receiver.url}).status_code == 409
