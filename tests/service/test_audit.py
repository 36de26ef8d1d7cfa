"""The audit log: every change of state is in it, by whoever made it, and nothing takes it out again."""

from __future__ import annotations

import io

import pytest
from flask.testing import FlaskClient
from sqlalchemy import delete, select, text, update
from sqlalchemy.exc import DatabaseError

from core.audit import Actor, acting
from core.tables import AuditEvent, Team
from server import auth
from server.bootstrap import Services
from server.worker import Worker
from tests.small_benchmark import GOOD, OSLO, jsonl
from tests.web_client import API, bearer, submit


def actions(services: Services, subject: object) -> list[tuple[str, str]]:
    with services.database.reading() as session:
        query = select(AuditEvent).where(AuditEvent.subject == str(subject)).order_by(AuditEvent.id)
        return [(row.action, row.actor) for row in session.scalars(query)]


def test_the_life_of_a_submission(client: FlaskClient, services: Services) -> None:
    headers, house = bearer(services), bearer(services, "house", "maintainer")
    at = submit(client, headers)
    Worker(services).run_until_idle()
    client.post(f"{API}/submissions/{at}/publish", headers=headers)
    client.post(f"{API}/submissions/{at}/withdraw", headers=house)
    assert actions(services, at) == [
        ("submission.accepted", "token"),
        ("submission.scored", "service"),
        ("submission.published", "token"),
        ("submission.withdrawn", "token"),
    ]
    events = client.get(f"{API}/audit?subject={at}", headers=house).json["events"]
    assert [each["team"] for each in events] == ["house", "one", None, "one"]
    assert events[-1]["details"]["benchmark_id"] == "small"
    assert events[0]["token_id"] == client.get(f"{API}/me", headers=house).json["token_id"]


def test_what_is_refused_or_undone_is_not_in_it(client: FlaskClient, services: Services) -> None:
    headers = bearer(services)
    submit(client, headers)
    before = len(_all(services))
    again = {"file": (io.BytesIO(jsonl(GOOD)), "a.jsonl"), "benchmark": "small", "system": "S"}
    assert client.post(f"{API}/submissions", headers=headers, data=again).status_code == 409
    with pytest.raises(RuntimeError), services.database.transaction() as session:
        auth.add_team(session, "Undone")
        raise RuntimeError
    assert len(_all(services)) == before


def test_accounts_and_tokens(client: FlaskClient, services: Services) -> None:
    headers = bearer(services)
    me = client.get(f"{API}/me", headers=headers).json
    client.put(f"{API}/me/alias", headers=headers, json={"alias": "X", "until": "2999-01-01T00:00:00Z"})
    second = client.post(f"{API}/tokens", headers=headers, json={"label": "two"}).json
    client.post(f"{API}/tokens/{second['id']}/revoke", headers=headers)
    client.post(f"{API}/tokens/{second['id']}/revoke", headers=headers)
    assert actions(services, second["id"])[-2:] == [("token.made", "token"), ("token.revoked", "token")]
    assert ("token.made", "service") in actions(services, me["token_id"])
    assert "two" not in str([row.details for row in _all(services)]), "labels are the team's own"


def test_ratings(client: FlaskClient, services: Services) -> None:
    house = bearer(services, "house", "maintainer")
    rows = "question,answer,attribution,rater,interpretable,supported\n" + "".join(
        f"what is the capital of norway,Oslo,{OSLO},{rater},Y,Y\n" for rater in ("r1", "r2")
    )
    file = {"file": (io.BytesIO(rows.encode()), "r.csv"), "benchmark": "small", "skip_unknown": "true"}
    batch = client.post(f"{API}/ratings", headers=house, data=file)
    assert batch.status_code == 201, batch.text
    number = batch.json["id"]
    out = client.post(
        f"{API}/ratings/raters/leave-out", headers=house, json={"benchmark": "small", "rater": "r1", "reason": "x"}
    )
    assert out.status_code in (200, 201), out.text
    client.post(f"{API}/ratings/raters/take-back", headers=house, json={"benchmark": "small", "rater": "r1"})
    client.post(f"{API}/ratings/{number}/revoke", headers=house)
    told = [row.action for row in _all(services) if row.actor == "token"]
    assert told == ["ratings.opened", "ratings.applied", "rater.left-out", "rater.taken-back", "ratings.revoked"]


def test_nothing_changes_or_leaves_the_log(services: Services) -> None:
    with services.database.transaction() as session:
        auth.add_team(session, "one")
    for statement in (
        update(AuditEvent).values(actor="nobody"),
        delete(AuditEvent),
        text("UPDATE audit_event SET action = 'x'"),
        text("DELETE FROM audit_event WHERE id = 1"),
    ):
        with pytest.raises(DatabaseError, match="append-only"), services.database.transaction() as session:
            session.execute(statement)
    assert [row.action for row in _all(services)] == ["team.added"]


def test_who_acts_is_set_for_a_block(services: Services) -> None:
    with acting(Actor("command line:ada")), services.database.transaction() as session:
        auth.add_team(session, "one")
    with services.database.transaction() as session:
        session.add(Team(name="two"))
    assert [row.actor for row in _all(services)] == ["command line:ada", "service"]


def test_it_is_read_page_by_page(client: FlaskClient, services: Services) -> None:
    bearer(services), bearer(services, "rater", "rater")
    house = bearer(services, "house", "maintainer")
    whole = client.get(f"{API}/audit?limit=1000", headers=house).json["events"]
    pages, before = [], 0
    while page := client.get(f"{API}/audit?limit=2&before={before}", headers=house).json["events"]:
        pages += page
        before = page[-1]["id"]
    assert pages == whole
    assert len(whole) > 4
    assert {each["team"] for each in client.get(f"{API}/audit?team=one", headers=house).json["events"]} <= {"one"}


def _all(services: Services) -> list[AuditEvent]:
    with services.database.reading() as session:
        return list(session.scalars(select(AuditEvent).order_by(AuditEvent.id)))
