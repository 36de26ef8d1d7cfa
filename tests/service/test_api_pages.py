"""The pages without a browser: sessions, CSRF, headers, inert text, and the form posted plainly."""

from __future__ import annotations

import dataclasses
import stat
from pathlib import Path

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient

from core.settings import Settings
from server import auth, security, web
from server.bootstrap import Services, build
from server.worker import Worker
from tests.small_benchmark import GOOD, add_benchmark, jsonl
from tests.web_client import API, bearer, csrf, form, sign_in, submit, token

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def signed_in(client: FlaskClient, services: Services) -> FlaskClient:
    sign_in(client, token(services, "one"))
    return client


def post(client: FlaskClient, path: str, fields: dict[str, object], page: str = "/submit"):
    return client.post(path, data={**fields, "csrf": csrf(client.get(page).text)})


@pytest.mark.parametrize("path", ["/", "/docs", "/sign-in", "/benchmarks/small"])
def test_open_pages(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.mimetype) == (200, "text/html")
    policy = answer.headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "style=" not in answer.text
    assert "onclick=" not in answer.text


def test_missing_pages_are_pages(client: FlaskClient) -> None:
    for path in ("/nothing", "/benchmarks/none", "/submissions/000"):
        answer = client.get(path)
        assert (answer.status_code, answer.mimetype) == (404, "text/html")
        assert "AQA Leaderboard" in answer.text


def test_without_benchmarks_the_pages_say_so(services: Services) -> None:
    client = web.create(services).test_client()
    assert "no benchmark yet" in client.get("/").text
    sign_in(client, token(services, "one"))
    assert "no benchmark yet" in client.get("/submit").text
    assert "Nothing yet" in client.get("/submissions").text


def test_signing_in_and_out(client: FlaskClient, services: Services) -> None:
    wanted = client.get("/submissions")
    assert (wanted.status_code, wanted.location) == (303, "/sign-in?back=/submissions")
    page = client.get(wanted.location).text
    wrong = client.post("/sign-in", data={"token": "aqa_wrong", "csrf": csrf(page)})
    assert (wrong.status_code, "not known" in wrong.text) == (401, True)
    answer = client.post("/sign-in", data={"token": token(services, "one"), "csrf": csrf(page), "back": "/submit"})
    assert (answer.status_code, answer.location) == (303, "/submit")
    cookie = answer.headers["Set-Cookie"]
    assert all(part in cookie for part in ("aqa_session=", "HttpOnly", "SameSite=Lax", "Path=/"))
    assert "Submissions of one" in client.get("/submissions").text
    assert post(client, "/sign-out", {}).status_code == 303
    assert client.get("/submissions").status_code == 303


@pytest.mark.parametrize(
    "back",
    [
        "https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/\t/evil.example",
        "/\n/evil.example", "/\r/evil.example",
    ],
)  # fmt: skip
def test_signing_in_leads_nowhere_else(client: FlaskClient, services: Services, back: str) -> None:
    page = client.get("/sign-in", query_string={"back": back}).text
    assert "evil" not in page
    answer = client.post("/sign-in", data={"token": token(services, "one"), "csrf": csrf(page), "back": back})
    assert answer.location == "/submissions"


def test_secure_cookies_are_a_setting(services: Services, tmp_path: Path) -> None:
    behind_tls = build(dataclasses.replace(services.settings, secure_cookies=True))
    assert "Secure" in web.create(behind_tls).test_client().get("/sign-in").headers["Set-Cookie"]
    behind_tls.database.engine.dispose()


def test_a_revoked_token_ends_its_sessions(signed_in: FlaskClient, services: Services) -> None:
    assert signed_in.get("/submissions").status_code == 200
    with services.database.transaction() as session:
        auth.revoke(session, 1)
    assert signed_in.get("/submissions").status_code == 303


def test_changes_need_the_forms_token(signed_in: FlaskClient, services: Services, web_app: APIFlask) -> None:
    at = submit(signed_in, bearer(services))
    stolen = csrf(web_app.test_client().get("/sign-in").text)
    for path in ("/submit", f"/submissions/{at}/publish", f"/submissions/{at}/withdraw", "/sign-out", "/sign-in"):
        for fields in ({}, {"csrf": ""}, {"csrf": stolen}):
            assert signed_in.post(path, data=fields).status_code == 403, path
    assert signed_in.get(f"{API}/submissions/{at}", headers=bearer(services)).json["published"] is False


def test_the_form_posted_plainly(signed_in: FlaskClient, services: Services) -> None:
    unnamed = post(signed_in, "/submit", {**form(), "file": (b"", "")} | {"file": ""})
    assert (unnamed.status_code, "No file was chosen" in unnamed.text) == (400, True)
    checked = post(signed_in, "/submit", form(do="validate", system=""))
    assert (checked.status_code, "would be accepted" in checked.text) == (200, True)
    twice = post(signed_in, "/submit", form(jsonl([*GOOD, GOOD[0]]), do="validate"))
    assert (twice.status_code, "would be refused" in twice.text) == (200, True)
    refused = post(signed_in, "/submit", form(jsonl([*GOOD, GOOD[0]]), architecture="other", description="Kept words"))
    assert (refused.status_code, "duplicate question" in refused.text) == (422, True)
    assert "Kept words" in refused.text
    assert signed_in.get(f"{API}/submissions", headers=bearer(services)).json["submissions"] == []
    sent = post(signed_in, "/submit", form(architecture="other", publish="on"))
    assert sent.status_code == 303
    page = signed_in.get(sent.location).text
    assert "next in line" in page
    Worker(services).run_until_idle()
    page = signed_in.get(sent.location).text
    assert all(text in page for text in ("60.0", "Token overlap (baseline)", "published", "em|bench:small@", "n/a"))
    assert "synthetic" not in page
    withdrawn = post(signed_in, f"{sent.location}/withdraw", {})
    assert withdrawn.status_code == 303
    assert "withdrawn" in signed_in.get(sent.location).text
    assert "withdrawn" in signed_in.get("/submissions").text


def test_synthetic_ratings_are_said(services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files", synthetic=True)
    client = web.create(services).test_client()
    assert "synthetic ratings" in client.get("/").text
    assert "synthetic ratings" in client.get("/benchmarks/small").text
    at = submit(client, bearer(services), publish="true")
    Worker(services).run_until_idle()
    assert "synthetic ratings" in client.get(f"/submissions/{at}").text
    assert client.get(f"{API}/submissions/{at}/scores").json["synthetic_ratings"] is True
    assert client.get(f"{API}/benchmarks/small").json["synthetic"] is True


def test_text_of_others_is_inert(services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files", title=EVIL, description=EVIL)
    client = web.create(services).test_client()
    sign_in(client, token(services, f"{EVIL} team"))
    bad = jsonl([{"question": EVIL, "answer": EVIL, "attribution": EVIL}])
    pages = [client.get("/").text, client.get("/benchmarks/small").text]
    pages.append(post(client, "/submit", form(bad, name=f"{EVIL}.jsonl", do="validate")).text)
    rows = [{"question": EVIL, "answer": "x", "attribution": ""}, *GOOD]
    sent = post(
        client, "/submit", form(jsonl(rows), name=f"{EVIL}.jsonl", system=EVIL, description=EVIL, architecture="other")
    )
    pages += [client.get(sent.location).text, client.get("/submissions").text]
    for page in pages:
        assert EVIL not in page
        assert "&lt;script&gt;" in page


def test_the_key_is_made_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    settings = Settings(judge="token-overlap", data_dir=str(tmp_path))
    key = security.secret_key(settings)
    assert (len(key) >= 32, security.secret_key(settings)) == (True, key)
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600
    assert security.secret_key(dataclasses.replace(settings, secret_key="given")) == "given"
    (tmp_path / "secret_key").write_text("")
    with pytest.raises(ValueError, match="no usable key"):
        security.secret_key(settings)
