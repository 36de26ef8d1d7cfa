"""Every error has one shape, NaN never leaves, and the OpenAPI document tells the truth."""

from __future__ import annotations

import json
import logging

import pytest
from apiflask import APIFlask
from flask import jsonify
from flask.testing import FlaskClient
from sqlalchemy.exc import OperationalError

from server.bootstrap import Services
from tests.web_client import API, bearer, form, token

SHAPE = {"code", "message", "hint", "places"}


def failing(app: APIFlask, error: Exception) -> None:
    def view() -> None:
        raise error

    app.add_url_rule(f"{API}/failing", "failing", view)
    app.add_url_rule("/failing", "failing-page", view)


@pytest.mark.parametrize(
    "method, path, status, code",
    [
        ("GET", f"{API}/nothing", 404, "not_found"),
        ("GET", f"{API}/benchmarks/none", 404, "not_found"),
        ("DELETE", f"{API}/benchmarks", 405, "method_not_allowed"),
        ("GET", f"{API}/leaderboard", 400, "invalid_input"),
        ("GET", f"{API}/leaderboard?benchmark=small&rank_by=x", 400, "invalid_input"),
        ("GET", f"{API}/me", 401, "not_signed_in"),
    ],
)
def test_the_shape_of_errors(client: FlaskClient, method: str, path: str, status: int, code: str) -> None:
    answer = client.open(path, method=method)
    assert (answer.status_code, answer.mimetype) == (status, "application/json")
    assert set(answer.json) == {"error"}
    assert set(answer.json["error"]) == SHAPE
    assert answer.json["error"]["code"] == code
    if status == 405:
        assert "GET" in answer.headers["Allow"]


def test_a_fault_of_ours_tells_nothing_of_the_inside(web_app: APIFlask, caplog: pytest.LogCaptureFixture) -> None:
    failing(web_app, ValueError("secret detail"))
    for path in (f"{API}/failing", "/failing"):
        answer = web_app.test_client().get(path)
        assert (answer.status_code, "secret" in answer.text) == (500, False)
    assert "secret detail" in caplog.text, "the log has what the answer hides"
    assert set(web_app.test_client().get(f"{API}/failing").json["error"]) == SHAPE


def test_a_database_that_is_away_is_503(web_app: APIFlask) -> None:
    failing(web_app, OperationalError("SELECT 1", {}, Exception("gone")))
    answer = web_app.test_client().get(f"{API}/failing")
    assert (answer.status_code, answer.json["error"]["code"]) == (503, "unavailable")


def test_readiness_asks_the_database(web_app: APIFlask, services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.errors import Unavailable

    client = web_app.test_client()
    assert (client.get("/healthz").json, client.get("/readyz").json) == ({"status": "ok"}, {"status": "ready"})

    def away() -> None:
        raise Unavailable("The database does not answer.")

    monkeypatch.setattr(services.database, "ping", away)
    assert (client.get("/healthz").status_code, client.get("/readyz").status_code) == (200, 503)


def test_nan_becomes_null(web_app: APIFlask) -> None:
    web_app.add_url_rule(f"{API}/nan", "nan", lambda: jsonify({"value": float("nan"), "high": float("inf")}))
    text = web_app.test_client().get(f"{API}/nan").text
    assert json.loads(text, parse_constant=lambda name: pytest.fail(name)) == {"value": None, "high": None}


def test_tokens_are_not_logged(client: FlaskClient, services: Services, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    secret = token(services, "one")
    client.get(f"{API}/me", headers={"Authorization": f"Bearer {secret}"})
    client.get(f"{API}/me", headers={"Authorization": f"Bearer {secret}x"})
    assert secret not in caplog.text


def document(client: FlaskClient) -> dict[str, object]:
    return client.get(f"{API}/openapi.json").json


def test_the_document_has_every_route_and_error(web_app: APIFlask, recwarn: pytest.WarningsRecorder) -> None:
    paths = document(web_app.test_client())["paths"]
    assert not [warning for warning in recwarn if "already been added" in str(warning.message)]
    served = {
        (rule.rule.replace("<", "{").replace(">", "}"), method.lower())
        for rule in web_app.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
        if rule.rule.startswith(API) and rule.endpoint != "openapi.spec"
    }
    assert {(path, method) for path, operations in paths.items() for method in operations} == served
    for operations in paths.values():
        for operation in operations.values():
            assert operation["summary"]
            for status, response in operation["responses"].items():
                if int(status) >= 400:
                    schema = response["content"]["application/json"]["schema"]
                    assert schema == {"$ref": "#/components/schemas/ErrorOut"}


def test_references_in_the_document_resolve(client: FlaskClient) -> None:
    spec = document(client)
    text = json.dumps(spec)
    named = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert named <= set(spec["components"]["schemas"])
    assert spec["openapi"].startswith("3.0")
    assert spec["paths"][f"{API}/submissions"]["post"]["security"] == [{"token": []}]


def test_answers_are_as_documented(client: FlaskClient, services: Services) -> None:
    paths = document(client)["paths"]
    mine = bearer(services)
    made = client.post(f"{API}/submissions", headers=mine, data=form()).json
    wanted = paths[f"{API}/submissions"]["post"]["responses"]["201"]["content"]["application/json"]["schema"]["$ref"]
    schema = document(client)["components"]["schemas"][wanted.rsplit("/", 1)[1]]
    assert set(schema["required"]) == set(made)
    assert set(schema["properties"]) == set(made)
