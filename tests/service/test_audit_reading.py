"""Who reads what of the audit log, on the page and over the API: by action, team, subject and day, page after page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from core.audit import Actor, acting
from core.tables import AuditEvent, Team
from server import auth
from server.audit_log import Wanted, log
from server.bootstrap import Services
from server.worker import Worker
from tests.command_line import runner
from tests.web_client import API, bearer, sign_in, submit, token


def events(client: FlaskClient, headers: dict[str, str], query: str = "") -> list[dict[str, object]]:
    answer = client.get(f"{API}/audit?{query}", headers=headers)
    assert answer.status_code == 200, answer.text
    return list(answer.json["events"])


def test_a_team_reads_of_its_own_only(client: FlaskClient, services: Services) -> None:
    one, two, house = bearer(services, "one"), bearer(services, "two"), bearer(services, "house", "maintainer")
    mine, theirs = submit(client, one, system="A"), submit(client, two, system="B")
    Worker(services).run_until_idle()
    client.post(f"{API}/submissions/{mine}/publish", headers=one)
    client.post(f"{API}/submissions/{mine}/withdraw", headers=house)
    found = events(client, one)
    assert [(each["action"], each["actor"], each["team"]) for each in found if each["subject"] == mine] == [
        ("submission.withdrawn", "maintainer", None),
        ("submission.published", "token", "one"),
        ("submission.scored", "service", None),
        ("submission.accepted", "token", "one"),
    ]
    assert {"team.added", "token.made"} <= {each["action"] for each in found}, "how it began is its own, too"
    assert not [each for each in found if each["subject"] == theirs or "house" in str(each) or "two" in str(each)]
    assert all(each["team_id"] is None and each["token_id"] is None for each in found if each["actor"] == "maintainer")
    assert events(client, one, f"subject={theirs}") == []
    assert events(client, one, "team=two") == []
    assert events(client, one, f"subject={mine}&team=house") == [], "no guessing who the maintainers are"
    assert events(client, one, "team=one") != []
    whole = events(client, house, "limit=1000")
    assert {each["id"] for each in found} < {each["id"] for each in whole}
    assert [each["team"] for each in whole if each["subject"] == mine] == ["house", "one", None, "one"]
    assert client.get(f"{API}/audit").status_code == 401


def test_the_command_lines_user_is_not_told_to_teams(client: FlaskClient, services: Services) -> None:
    headers = bearer(services, "one")
    with acting(Actor("command line:ada")), services.database.transaction() as session:
        auth.new_token(session, "one", "team", 1)
    newest = events(client, headers)[0]
    assert (newest["action"], newest["actor"]) == ("token.made", "maintainer")
    assert "ada" not in str(events(client, headers))
    house = bearer(services, "house", "maintainer")
    assert "command line:ada" in {each["actor"] for each in events(client, house)}


def test_a_number_that_was_given_out_again_brings_no_old_events(services: Services) -> None:
    with services.database.transaction() as session:
        old = auth.add_team(session, "Old")
        auth.new_token(session, old, "team", 1)
        number = old.id
    with services.database.transaction() as session:
        session.delete(session.get_one(Team, number))
    with services.database.transaction() as session:
        session.add(Team(id=number, name="New"))
        session.flush()
        auth.new_token(session, "New", "team", 1)
    who = auth.Identity(number, "New", "team", 1)
    with services.database.reading() as session:
        own, whole = log(session, who=who), log(session)
        made = session.get_one(Team, number).created_at
    assert [each.action for each in own] == ["token.made", "team.added"]
    assert all(each.at >= made for each in own)
    assert [each.team for each in whole] == [None] * 5


@pytest.mark.parametrize("by", ["api", "command line"])
def test_filters(
    client: FlaskClient, services: Services, by: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    house, today = bearer(services, "house", "maintainer"), datetime.now(UTC).date()
    submit(client, bearer(services, "one"))
    aqa = runner(services.settings, monkeypatch, capsys)

    def found(**wanted: object) -> list[str]:
        if by == "api":
            query = "&".join(f"{name}={value}" for name, value in wanted.items())
            return [str(each["action"]) for each in events(client, house, query)]
        options = [part for name, value in wanted.items() for part in (f"--{name}", value)]
        return [each["action"] for each in aqa("audit", *options, "--json").json]

    assert found(action="submission.accepted") == ["submission.accepted"]
    assert found(action="submission.accepted", team="one") == ["submission.accepted"]
    assert found(action="submission.accepted", team="house") == []
    assert found(since=today + timedelta(days=1)) == found(until=today - timedelta(days=1)) == []
    assert len(found(since=today, until=today)) == len(found()) >= 5
    assert found(until="9999-12-31") == found()


@pytest.mark.parametrize(
    "query", ["since=yesterday", "until=2026-02-30", "before=x", "before=-1", "action=none", "limit=0", "since=2026-1"]
)
def test_filters_that_make_no_sense(client: FlaskClient, services: Services, query: str) -> None:
    assert client.get(f"{API}/audit?{query}", headers=bearer(services)).status_code == 400
    if not query.startswith(("action", "limit")):  # a page's own links hold neither
        sign_in(client, token(services, "one"))
        page = client.get(f"/audit?{query}")
        assert (page.status_code, "alert" in page.text) == (400, True)


def test_the_page_of_a_team(web_app: APIFlask, services: Services) -> None:
    client = web_app.test_client()
    at = submit(client, bearer(services, "one"))
    theirs = submit(client, bearer(services, "Strangers"), system="B")
    sign_in(client, token(services, "one"))
    page = client.get("/audit").text
    assert f'href="/submissions/{at}"' in page
    assert ("Strangers" in page, theirs in page) == (False, False)
    assert 'name="team"' not in page
    empty = client.get("/audit?action=run.failed").text
    assert "No event is like that" in empty
    hostile = client.get("/audit?subject=<script>alert(1)</script>&since=<i>x")
    assert (hostile.status_code, "<script>alert" in hostile.text, "<i>x" in hostile.text) == (400, False, False)
    assert client.get("/audit?subject=a%00b").status_code == 400


def test_the_page_of_maintainers_page_by_page(web_app: APIFlask, services: Services) -> None:
    client = web_app.test_client()
    sign_in(client, token(services, "house", "maintainer"))
    for number in range(60):
        token(services, f"Team {number}")
    first = client.get("/audit")
    assert (first.text.count('<td class="kind">'), "Newest" in first.text) == (50, False)
    older = first.text.split('href="/audit?before=')[1].split('"')[0]
    second = client.get(f"/audit?before={older}")
    assert (second.text.count('<td class="kind">'), "Newest" in second.text) == (50, True)
    with services.database.reading() as session:
        ids = list(session.scalars(select(AuditEvent.id).order_by(AuditEvent.id.desc())))
    assert int(older) == ids[49]
    assert client.get("/audit?team=Team 7&action=token.made").text.count('<td class="kind">') == 0, "none acted by it"


def test_raters_read_none_of_it_not_even_of_their_own_team(web_app: APIFlask, services: Services) -> None:
    client = web_app.test_client()
    submit(client, bearer(services, "one"))
    answer = client.get(f"{API}/audit", headers=bearer(services, "one", "rater"))
    assert (answer.status_code, answer.json["error"]["code"]) == (403, "forbidden")
    sign_in(client, token(services, "one", "rater"))
    page = client.get("/audit")
    assert (page.status_code, "submission.accepted" in page.text) == (403, False)
    assert 'href="/audit"' not in client.get("/team").text
    sign_in(client, token(services, "one"))
    assert 'href="/audit"' in client.get("/team").text


def test_visitors_are_sent_to_sign_in(client: FlaskClient) -> None:
    assert client.get("/audit").location.startswith("/sign-in")


def test_wanted_is_bounded(services: Services) -> None:
    with services.database.transaction() as session:
        auth.add_team(session, "one")
        session.execute(update(Team).values(alias=None))
    with services.database.reading() as session:
        assert len(log(session, Wanted(limit=10**9))) == 1
        assert len(log(session, Wanted(limit=-5))) == 1
