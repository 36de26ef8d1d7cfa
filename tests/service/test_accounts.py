"""Teams sign up, keep their tokens in order, hide their name for a while, and find every version again."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient
from sqlalchemy import update

from core.tables import Team
from server import auth, web
from server.bootstrap import Services, build
from server.worker import Worker
from tests.small_benchmark import GOOD, jsonl
from tests.web_client import API, bearer, csrf, sign_in, submit, token


@pytest.fixture
def open_client(services: Services) -> FlaskClient:
    """A service where anybody may make a team."""
    return web.create(build(dataclasses.replace(services.settings, open_registration=True))).test_client()


def soon(days: float = 7) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).isoformat()


def test_registration_is_closed_unless_a_setting_opens_it(client: FlaskClient) -> None:
    answer = client.post(f"{API}/register", json={"team": "New"})
    assert (answer.status_code, answer.json["error"]["code"]) == (403, "forbidden")
    assert client.get("/register").status_code == 403
    assert "Make a team" not in client.get("/sign-in").text
    assert client.post("/register", data={"team": "New", "csrf": csrf(client.get("/sign-in").text)}).status_code == 403


def test_open_registration_over_the_api(open_client: FlaskClient) -> None:
    made = open_client.post(f"{API}/register", json={"team": " New  team "})
    assert (made.status_code, made.json["team"]) == (201, "New team")
    me = open_client.get(f"{API}/me", headers={"Authorization": f"Bearer {made.json['token']}"})
    assert (me.json["team"], me.json["role"]) == ("New team", "team")
    assert open_client.post(f"{API}/register", json={"team": "New team"}).status_code == 409
    assert open_client.post(f"{API}/register", json={"team": ""}).status_code == 400


def test_open_registration_on_the_page(open_client: FlaskClient) -> None:
    page = open_client.get("/register").text
    assert "/register" in open_client.get("/sign-in").text
    taken = open_client.post("/register", data={"team": "\x07", "csrf": csrf(page)})
    assert (taken.status_code, "can be printed" in taken.text) == (400, True)
    made = open_client.post("/register", data={"team": "Page team", "csrf": csrf(page)})
    assert made.status_code == 200
    assert made.text.count("aqa_") == 1, "the token is shown this once"
    assert "Page team" in open_client.get("/team").text, "one is signed in"
    assert "aqa_" not in open_client.get("/team").text


def test_tokens_are_listed_made_and_revoked(client: FlaskClient, services: Services) -> None:
    headers = bearer(services, "one", "rater")
    made = client.post(f"{API}/tokens", headers=headers, json={"label": "laptop", "days": 30})
    assert made.status_code == 201
    assert (made.json["role"], made.json["label"]) == ("rater", "laptop"), "a token makes none with more rights"
    other = {"Authorization": f"Bearer {made.json['token']}"}
    listed = client.get(f"{API}/tokens", headers=other).json["tokens"]
    assert [row["label"] for row in listed] == ["laptop", ""]
    assert made.json["token"] not in client.get(f"{API}/tokens", headers=other).text
    ended = client.post(f"{API}/tokens/{listed[1]['id']}/revoke", headers=other)
    assert ended.json["revoked_at"] is not None
    assert client.get(f"{API}/me", headers=headers).status_code == 401
    assert client.get(f"{API}/me", headers=other).status_code == 200
    for wrong in ({"days": -1}, {"days": 99_999}, {"label": "x" * 81}, {"days": "many"}):
        assert client.post(f"{API}/tokens", headers=other, json=wrong).status_code == 400, wrong
    assert client.post(f"{API}/tokens/{2**40}/revoke", headers=other).status_code == 404


def test_tokens_on_the_page(client: FlaskClient, services: Services) -> None:
    sign_in(client, token(services, "one"))
    field = {"csrf": csrf(client.get("/team").text)}
    made = client.post("/team/tokens", data={"label": "<b>x</b>", "days": "3"} | field)
    assert (made.status_code, made.text.count("aqa_"), "<b>x</b>" in made.text) == (200, 1, False)
    assert client.post("/team/tokens", data={"days": "soon"} | field).status_code == 400
    assert client.post("/team/tokens/1/revoke", data=field).status_code == 303
    assert client.get("/team").status_code == 303, "the session's own token has ended"


def test_a_team_has_a_bound_of_tokens(client: FlaskClient, services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.teams.MOST_TOKENS", 2)
    headers = bearer(services)
    assert client.post(f"{API}/tokens", headers=headers, json={}).status_code == 201
    assert client.post(f"{API}/tokens", headers=headers, json={}).status_code == 409


def names(client: FlaskClient, at: str, headers: dict[str, str] | None = None) -> set[str]:
    """Every name of the team that the sender reads anywhere."""
    board = client.get(f"{API}/leaderboard?benchmark=small").json["rows"]
    csv = client.get(f"{API}/leaderboard/download?benchmark=small").text
    entry = client.get(f"{API}/submissions/{at}", headers=headers).json["team"]
    page = client.get(f"/submissions/{at}").text
    found = {row["team"] for row in board} | {entry}
    return found | {name for name in ("one", "Team X") if f">{name} ·" in page or f",{name}," in csv}


def test_a_name_is_hidden_until_its_day(client: FlaskClient, services: Services) -> None:
    headers = bearer(services)
    at = submit(client, headers, publish="true")
    Worker(services).run_until_idle()
    assert names(client, at) == {"one"}
    hidden = client.put(f"{API}/me/alias", headers=headers, json={"alias": "Team X", "until": soon()})
    assert (hidden.status_code, hidden.json["alias"], hidden.json["team"]) == (200, "Team X", "one")
    assert names(client, at) == {"Team X"}
    assert client.get(f"{API}/submissions/{at}", headers=bearer(services, "two")).json["team"] == "Team X"
    for who in (headers, bearer(services, "house", "maintainer")):
        assert client.get(f"{API}/submissions/{at}", headers=who).json["team"] == "one"
    with services.database.transaction() as session:
        session.execute(update(Team).where(Team.name == "one").values(alias_until=datetime.now(UTC)))
    assert names(client, at) == {"one"}, "the day has passed"
    assert client.get(f"{API}/me", headers=headers).json["alias"] is None


@pytest.mark.parametrize(
    ("alias", "days", "status"), [("two", 7, 409), ("one", 7, 409), ("", 7, 400), ("X", -1, 400), ("X", 400, 400)]
)
def test_not_every_name_will_do(client: FlaskClient, services: Services, alias: str, days: int, status: int) -> None:
    bearer(services, "two")
    answer = client.put(f"{API}/me/alias", headers=bearer(services), json={"alias": alias, "until": soon(days)})
    assert answer.status_code == status, answer.text


def test_an_alias_is_taken_for_others_and_can_be_given_up(client: FlaskClient, services: Services) -> None:
    headers = bearer(services)
    sign_in(client, token(services, "one"))
    fields = {"csrf": csrf(client.get("/team").text), "alias": "Team X", "until": soon()[:10]}
    assert client.post("/team/alias", data=fields).status_code == 303
    assert "Team X" in client.get("/team").text
    assert client.post("/team/alias", data=fields | {"until": "tomorrow"}).status_code == 400
    with services.database.transaction() as session, pytest.raises(auth.Conflict):
        auth.add_team(session, "Team X")
    assert client.delete(f"{API}/me/alias", headers=headers).json["alias"] is None
    assert "Team X" not in client.get("/team").text


def test_versions_keep_their_history(client: FlaskClient, services: Services, web_app: APIFlask) -> None:
    headers = bearer(services)
    first = submit(client, headers, publish="true")
    second = submit(client, headers, file=_file(1), publish="true")
    third = submit(client, headers, file=_file(2))
    submit(client, headers, system="Another")
    Worker(services).run_until_idle()
    client.post(f"{API}/submissions/{first}/withdraw", headers=headers)
    path = f"{API}/submissions/{second}/versions"
    mine = client.get(path, headers=headers).json["submissions"]
    assert [(each["id"], each["version"]) for each in mine] == [(third, 3), (second, 2), (first, 1)]
    assert [each["id"] for each in client.get(path).json["submissions"]] == [second]
    assert client.get(f"{API}/submissions/{third}/versions").status_code == 404
    assert "Versions" not in client.get(f"/submissions/{second}").text
    sign_in(client, token(services, "one"))
    page = client.get(f"/submissions/{second}").text
    assert all(f"/submissions/{each}" in page for each in (first, third))
    row = client.get(f"{API}/leaderboard?benchmark=small").json["rows"][0]
    assert row["submission"] == second, "the latest published one counts"


def _file(drop: int) -> tuple[object, str]:
    import io

    return io.BytesIO(jsonl(GOOD[drop:])), "more.jsonl"


def test_maintainers_make_teams(client: FlaskClient, services: Services) -> None:
    house = bearer(services, "house", "maintainer")
    made = client.post(f"{API}/teams", headers=house, json={"team": "Raters", "role": "rater"})
    assert made.status_code == 201
    me = client.get(f"{API}/me", headers={"Authorization": f"Bearer {made.json['token']}"}).json
    assert (me["team"], me["role"]) == ("Raters", "rater")
    assert [row["name"] for row in client.get(f"{API}/teams", headers=house).json["teams"]] == ["Raters", "house"]
    assert client.post(f"{API}/teams", headers=house, json={"team": "X", "role": "king"}).status_code == 400
