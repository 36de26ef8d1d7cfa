"""Who may do what: every route has a rule, and the rules hold for visitors, strangers, raters and maintainers."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from core.errors import Conflict, InvalidInput, NotFound
from core.tables import Token
from core.tables.base import utc_now
from server import auth
from server.bootstrap import Services
from server.worker import Worker
from tests.web_client import API, bearer, form, sign_in, submit, token

UNGUARDED = {"static", "openapi.spec"}
"""Routes of the framework that show nothing of anybody."""


def routes(app: APIFlask) -> list[tuple[str, str, object]]:
    """Path (with the submission's id to fill in), method and view of every route of ours."""
    values = {"<submission_id>": "{id}", "<benchmark_id>": "small", "<kind>": "csv"}
    found = []
    for rule in app.url_map.iter_rules():
        path = rule.rule
        for name, value in values.items():
            path = path.replace(name, value)
        path = re.sub(r"<(path:)?\w+>", "1", path)
        if rule.endpoint not in UNGUARDED:
            found += [
                (path, method, app.view_functions[rule.endpoint]) for method in rule.methods - {"HEAD", "OPTIONS"}
            ]
    return found


def test_every_route_has_a_rule(web_app: APIFlask) -> None:
    found = routes(web_app)
    assert len(found) > 25
    assert [path for path, _, view in found if not hasattr(view, "access")] == []


def test_routes_with_a_rule_refuse_visitors_and_wrong_roles(web_app: APIFlask, services: Services) -> None:
    client = web_app.test_client()
    at = submit(client, bearer(services))
    for path, method, view in routes(web_app):
        if view.access == ("anybody",):
            continue
        path = path.format(id=at)
        if path.startswith((API, "/hub/")):
            assert client.open(path, method=method).status_code == 401, path
            for role in set(auth.ROLES) - set(view.access):
                headers = bearer(services, role, role)
                assert client.open(path, method=method, headers=headers).status_code == 403, path
        elif method == "GET":
            answer = web_app.test_client().get(path)
            assert (answer.status_code, answer.location.split("?")[0]) == (303, "/sign-in"), path


@pytest.mark.parametrize("published", [False, True])
def test_a_private_entry_is_its_teams_own(client: FlaskClient, services: Services, published: bool) -> None:
    owner, stranger, maintainer = bearer(services), bearer(services, "two"), bearer(services, "house", "maintainer")
    at = submit(client, owner, publish=str(published).lower())
    Worker(services).run_until_idle()
    own_only = [f"{API}/submissions/{at}/report"]
    shown = [
        f"{API}/submissions/{at}{rest}" for rest in ("", "/scores", "/download?kind=csv", "/download?kind=manifest")
    ]
    pages = [f"/submissions/{at}{rest}" for rest in ("", "/live", "/download.csv")]
    for path in own_only + shown:
        assert client.get(path, headers=owner).status_code == 200
        assert client.get(path, headers=maintainer).status_code == 200
        expected = 200 if published and path in shown else 404
        assert client.get(path, headers=stranger).status_code == expected, path
        assert client.get(path).status_code == (401 if path in own_only else expected), path
    for path in pages:
        assert client.get(path).status_code == (200 if published else 404), path
    assert ("answers.jsonl" in client.get(f"/submissions/{at}").text) is False, "the report is the team's own"
    for change in ("publish", "withdraw"):
        assert client.post(f"{API}/submissions/{at}/{change}", headers=stranger).status_code == 404
    assert client.get(f"{API}/submissions", headers=stranger).json["submissions"] == []
    assert client.post(f"{API}/submissions/{at}/withdraw", headers=maintainer).status_code == 200
    assert client.get(shown[0], headers=stranger).status_code == 404


def test_unknown_and_foreign_entries_look_alike(client: FlaskClient, services: Services) -> None:
    at = submit(client, bearer(services))
    stranger = bearer(services, "two")
    foreign = client.get(f"{API}/submissions/{at}", headers=stranger).json["error"]
    unknown = client.get(f"{API}/submissions/000000000000", headers=stranger).json["error"]
    assert foreign["message"].replace(at, "X") == unknown["message"].replace("000000000000", "X")
    assert {**foreign, "message": ""} == {**unknown, "message": ""}


def test_tokens_end(client: FlaskClient, services: Services) -> None:
    secret = token(services, "one")
    mine = {"Authorization": f"Bearer {secret}"}
    assert client.get(f"{API}/me", headers=mine).status_code == 200
    with services.database.transaction() as session:
        session.execute(update(Token).values(expires_at=utc_now() - timedelta(seconds=1)))
    expired = client.get(f"{API}/me", headers=mine)
    assert (expired.status_code, "expired" in expired.json["error"]["message"]) == (401, True)
    with services.database.transaction() as session:
        session.execute(update(Token).values(expires_at=None))
        auth.revoke(session, auth.verify(session, secret).token_id)
    revoked = client.get(f"{API}/me", headers=mine)
    assert (revoked.status_code, "revoked" in revoked.json["error"]["message"]) == (401, True)
    assert revoked.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Basic abc", "Bearer aqa_wrong", "Bearer \xff", "aqa_x"])
def test_wrong_headers_are_401_even_on_public_routes(client: FlaskClient, header: str) -> None:
    answer = client.get(f"{API}/benchmarks", headers={"Authorization": header})
    assert (answer.status_code, answer.json["error"]["code"]) == (401, "not_signed_in")


def test_cookies_do_not_open_the_api_nor_tokens_the_pages(client: FlaskClient, services: Services) -> None:
    sign_in(client, token(services, "one"))
    assert client.get("/submissions").status_code == 200
    assert client.get(f"{API}/me").status_code == 401
    assert client.post(f"{API}/submissions", data=form()).status_code == 401
    client.delete_cookie("aqa_session")
    assert client.get("/submissions", headers=bearer(services)).status_code == 303


def test_only_a_tokens_sha256_is_stored(services: Services) -> None:
    secret = token(services, "one")
    with services.database.reading() as session:
        row = session.scalars(select(Token)).one()
    assert secret not in {str(value) for value in vars(row).values()}
    assert row.digest == auth.digest(secret)


def test_teams_and_tokens_are_checked_when_made(services: Services) -> None:
    with services.database.transaction() as session:
        team = auth.add_team(session, "  Two   words ")
        assert team.name == "Two words"
        for name, error in (
            ("Two words", Conflict),
            ("", InvalidInput),
            ("a\nb\x07", InvalidInput),
            ("x" * 81, InvalidInput),
        ):
            with pytest.raises(error):
                auth.add_team(session, name)
        with pytest.raises(NotFound):
            auth.new_token(session, "nobody", "team", 1)
        with pytest.raises(InvalidInput):
            auth.new_token(session, team, "king", 1)
        with pytest.raises(InvalidInput):
            auth.new_token(session, team, "team", -1)
