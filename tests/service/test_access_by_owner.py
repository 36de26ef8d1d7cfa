"""Nobody reaches another team's things: generated from the route table, so that a new route is held to it as well."""

from __future__ import annotations

import io
import re
from pathlib import Path

import httpx
import pytest
from apiflask import APIFlask

from core.tables import RunRow
from server import auth, webhooks
from server.bootstrap import Services
from tests.live_server import serving
from tests.small_benchmark import GOOD, add_benchmark, jsonl
from tests.web_client import API, bearer, csrf, sign_in, submit, token

OWNED = {"submission_id", "token_id", "webhook_id", "upload_id", "run_id"}
BODIES: dict[str, dict[str, object]] = {
    f"PUT {API}/uploads/<upload_id>": {"headers": {"Content-Range": "bytes 0-1/9"}, "data": b"xx"},
    f"POST {API}/uploads/<upload_id>/finish": {"json": {"benchmark": "small", "system": "S"}},
}


@pytest.fixture
def theirs(web_app: APIFlask, services: Services, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """One of each thing that team `one` owns, all private."""
    client, headers = web_app.test_client(), bearer(services, "one")
    monkeypatch.setattr(webhooks, "check_url", lambda url, private: url)
    made = {
        "submission_id": submit(client, headers),
        "token_id": client.get(f"{API}/tokens", headers=headers).json["tokens"][0]["id"],
        "webhook_id": client.post(f"{API}/webhooks", headers=headers, json={"url": "https://x.example"}).json["id"],
        "upload_id": client.post(f"{API}/uploads", headers=headers, json={"size": 9}).json["id"],
    }
    with services.database.transaction() as session:
        team = auth.find_team(session, "one").id
        plan = {"changes": {"model": "lab/secret@main"}, "entry": {"name": "Secret"}}
        session.add(RunRow(id="run1", team_id=team, benchmark_id="small", system="Small-RTR", plan=plan))
    return {name: str(value) for name, value in made.items()} | {"run_id": "run1"}


def owned_routes(app: APIFlask, prefix: str) -> list[tuple[str, str]]:
    """Method and path of what teams can reach; what is for maintainers alone answers 403 to all others anyway."""
    found = [
        (method, rule.rule)
        for rule in app.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
        if rule.arguments & OWNED and rule.rule.startswith(API) == (prefix == API)
        if app.view_functions[rule.endpoint].access != ("maintainer",)
    ]
    assert len(found) >= 5
    return found


def filled(rule: str, values: dict[str, str]) -> str:
    rule = re.sub(r"<(\w+)>", lambda name: values.get(name[1], "csv"), rule)
    return rule.replace("/csv", "/remove") if "/webhooks/" in rule else rule


def test_the_api_hides_what_is_anothers(web_app: APIFlask, services: Services, theirs: dict[str, str]) -> None:
    client, stranger, rater = web_app.test_client(), bearer(services, "two"), bearer(services, "three", "rater")
    for method, rule in owned_routes(web_app, API):
        more = dict(BODIES.get(f"{method} {rule}", {}))
        own = more.pop("headers", {})
        for headers in (stranger, rater):
            answer = client.open(filled(rule, theirs), method=method, headers={**headers, **own}, **more)
            assert answer.status_code in (403, 404), (method, rule, answer.text)
            assert headers is rater or answer.status_code == 404, (method, rule, answer.text)
    mine = bearer(services, "one")
    assert client.get(f"{API}/submissions/{theirs['submission_id']}", headers=mine).json["published"] is False
    assert client.get(f"{API}/uploads/{theirs['upload_id']}", headers=mine).json["received"] == 0
    assert len(client.get(f"{API}/webhooks", headers=mine).json["webhooks"]) == 1
    assert {each["revoked_at"] for each in client.get(f"{API}/tokens", headers=mine).json["tokens"]} == {None}


def test_the_pages_hide_it_too(web_app: APIFlask, services: Services, theirs: dict[str, str]) -> None:
    client = web_app.test_client()
    sign_in(client, token(services, "two"))
    for method, rule in owned_routes(web_app, ""):
        fields = {"csrf": csrf(client.get("/submit").text)} if method == "POST" else None
        answer = client.open(filled(rule, theirs), method=method, data=fields)
        assert answer.status_code == 404, (method, rule)


def test_every_form_needs_its_token(web_app: APIFlask, services: Services, theirs: dict[str, str]) -> None:
    forms = [
        rule for rule in web_app.url_map.iter_rules() if "POST" in rule.methods and rule.endpoint.startswith("pages.")
    ]
    assert len(forms) > 12
    for role in ("team", "rater", "maintainer"):
        client = web_app.test_client()
        sign_in(client, token(services, role, role))
        for rule in forms:
            for fields in ({}, {"csrf": "guessed"}):
                answer = client.post(filled(rule.rule, theirs), data=fields)
                assert answer.status_code == 403, rule.rule
                assert "out of date or came from elsewhere" in answer.text, rule.rule
    assert all("POST" not in rule.methods for rule in web_app.url_map.iter_rules() if rule.endpoint == "static")


def test_the_board_process_shows_nothing_private(services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    with serving(services) as url, httpx.Client(base_url=url, timeout=30, follow_redirects=True) as client:
        headers = bearer(services, "one")
        fields = {"benchmark": "small", "system": "Secret system"}
        sent = client.post(f"{API}/submissions", data=fields, files={"file": ("a.jsonl", jsonl(GOOD))}, headers=headers)
        assert sent.status_code == 201
        config = client.get("/leaderboard/config").json()
        for path in ("/leaderboard/", "/leaderboard/?benchmark=small", "/leaderboard/config"):
            assert "Secret system" not in client.get(path).text
        for number, each in enumerate(config["dependencies"]):
            called = client.post(
                "/leaderboard/gradio_api/run/predict", json={"fn_index": each.get("id", number), "data": ["small"] * 9}
            )
            assert "Secret system" not in called.text
        for path in ("/etc/passwd", str(tmp_path / "data" / "secret_key"), "../../../../etc/passwd"):
            stolen = client.get(f"/leaderboard/gradio_api/file={path}")
            assert stolen.status_code in (403, 404), path
        big = {"files": ("x.bin", io.BytesIO(b"x" * 4096))}
        assert client.post("/leaderboard/gradio_api/upload", files=big).status_code in (403, 404, 413)
