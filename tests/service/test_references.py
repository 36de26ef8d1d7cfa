"""Files on the Hub submitted by their reference over the API, the pages and the client: pinned, told apart, guarded."""

from __future__ import annotations

import dataclasses
import io
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select

from core.errors import NotFound, Refused
from core.settings import Settings
from core.tables import AuditEvent, Submission, SubmissionSource
from server import references, web
from server.bootstrap import Services, build
from server.client import Client
from server.worker import Worker
from submissions.intake import SystemCard
from submissions.sources import hub as hub_source
from tests.command_line import runner
from tests.fake_hub import FakeHub, serving
from tests.hub_server import serving as serving_web
from tests.small_benchmark import GOOD, add_benchmark, jsonl
from tests.web_client import API, bearer, csrf, sign_in, token

REFERENCE = "hf://datasets/lab/runs/p.jsonl"
SAID = {"reference": REFERENCE, "benchmark": "small", "system": "S", "architecture": "retrieve-then-read"}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    monkeypatch.setattr(references, "briefly", lambda seconds: None)
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_machine")
    with serving(FakeHub()) as running:
        running.dataset("lab/runs", files={"p.jsonl": jsonl(GOOD), "broken.csv": b"question,answer\n"})
        running.dataset("lab/gated", files={"p.jsonl": jsonl(GOOD)}, gated=True)
        running.dataset("lab/private", files={"p.jsonl": jsonl(GOOD)}, private=True)
        yield running


@pytest.fixture
def wired(services: Services, tmp_path: Path, hub: FakeHub) -> Services:
    add_benchmark(services, tmp_path / "files")
    return build(dataclasses.replace(services.settings, hub_endpoint=hub.url, hub_token=hub.token))


@pytest.fixture
def api(wired: Services) -> FlaskClient:
    return web.create(wired).test_client()


def counted(services: Services) -> int:
    with services.database.reading() as session:
        return session.scalar(select(func.count()).select_from(Submission)) or 0


def test_it_is_pinned_scored_and_written_down(api: FlaskClient, wired: Services, hub: FakeHub) -> None:
    headers, commit = bearer(wired), hub.repos[("datasets", "lab/runs")].at("main")[0]
    made = api.post(f"{API}/references", headers=headers, json=SAID | {"publish": True})
    assert made.status_code == 201, made.text
    at, pinned = made.json["id"], f"{REFERENCE}@{commit}"
    assert (made.json["source"], made.json["state"]) == (pinned, "queued")
    hub.repos[("datasets", "lab/runs")].files["p.jsonl"] = b"something else by now"
    Worker(wired).run_until_idle()
    with wired.database.reading() as session:
        assert session.get_one(SubmissionSource, at).reference == pinned
        assert session.get_one(Submission, at).file_name == "p.jsonl"
        event = session.scalars(select(AuditEvent).where(AuditEvent.subject == at).order_by(AuditEvent.id)).first()
        assert event is not None
        assert (event.action, event.actor, event.details["benchmark_id"]) == ("submission.accepted", "token", "small")
    seen = api.get(f"{API}/submissions/{at}", headers=bearer(wired, "two")).json
    assert (seen["state"], seen["source"]) == ("scored", None), "the reference could name a team that goes by an alias"
    assert hub.tokens == set(), "neither our token nor the machine's: the asker reaches what is open to all"


def test_validating_stores_nothing(api: FlaskClient, wired: Services, hub: FakeHub) -> None:
    asked = {"reference": REFERENCE, "benchmark": "small"}
    found = api.post(f"{API}/references/validate", headers=bearer(wired), json=asked | {"system": "ignored"})
    assert (found.status_code, found.json["report"]["accepted"]) == (200, True)
    sent = api.post(
        f"{API}/validate",
        headers=bearer(wired),
        data={"file": (io.BytesIO(jsonl(GOOD)), "p.jsonl"), "benchmark": "small"},
    )
    assert found.json == sent.json, "the same file by the other way"
    broken = asked | {"reference": "hf://datasets/lab/runs/broken.csv"}
    refused = api.post(f"{API}/references/validate", headers=bearer(wired), json=broken)
    assert (refused.status_code, refused.json["report"]["accepted"], refused.json["digest"]) == (200, False, None)
    assert counted(wired) == 0
    hub.asked.clear()
    unknown = api.post(f"{API}/references/validate", headers=bearer(wired), json=asked | {"benchmark": "none"})
    assert (unknown.status_code, hub.asked) == (404, [])


@pytest.mark.parametrize(
    ("reference", "status", "code", "says"),
    [
        ("hf://datasets/lab/gated/p.jsonl", 403, "forbidden", "gated"),
        ("hf://datasets/lab/private/p.jsonl", 404, "not_found", "or it is private"),
        ("hf://datasets/lab/none/p.jsonl", 404, "not_found", "no dataset lab/none"),
        ("hf://datasets/lab/runs/none.jsonl", 404, "not_found", "no file none.jsonl"),
        (f"{REFERENCE}@nowhere", 404, "not_found", "no revision"),
        ("hf://datasets/lab/runs/broken.csv", 422, "refused", "attribution"),
        ("hf://models/lab/runs/p.jsonl", 400, "invalid_input", "not a reference"),
        ("hf://datasets/lab/runs/../../x", 400, "invalid_input", "leads outside"),
        ("hf://datasets/lab/runs/%2e%2e/%2e%2e/x", 404, "not_found", "no file"),
        ("hf://datasets/lab@127.0.0.1:1/runs/p.jsonl", 400, "invalid_input", ""),
        ("http://169.254.169.254/latest/meta-data", 400, "invalid_input", "not a reference"),
        ("file:///etc/passwd", 400, "invalid_input", "not a reference"),
        ("/etc/passwd", 400, "invalid_input", "not a reference"),
        ("hf://datasets/lab/runs/p.jsonl@../../../x", 400, "invalid_input", "not a revision"),
        ("hf://datasets/lab/runs/p.jsonl@a?b=c#d", 404, "not_found", "no revision"),
        ("", 400, "invalid_input", ""),
        ("hf://datasets/lab/runs/" + "x" * 2_000, 400, "invalid_input", ""),
        ("hf://datasets/lab/runs/a\x00b", 400, "invalid_input", ""),
    ],
)
def test_what_is_wrong_is_told_apart(
    api: FlaskClient, wired: Services, hub: FakeHub, reference: str, status: int, code: str, says: str
) -> None:
    answer = api.post(f"{API}/references", headers=bearer(wired), json=SAID | {"reference": reference})
    assert (answer.status_code, answer.json["error"]["code"]) == (status, code), answer.text
    assert says in answer.json["error"]["message"]
    assert answer.json["error"]["hint"]
    assert counted(wired) == 0
    assert hub.tokens == set()


def test_a_busy_or_broken_hub_is_no_fault_of_the_team(api: FlaskClient, wired: Services, hub: FakeHub) -> None:
    hub.busy = 99
    busy = api.post(f"{API}/references", headers=bearer(wired), json=SAID)
    assert (busy.status_code, "patience" in busy.json["error"]["message"]) == (503, True)
    hub.busy, hub.broken = 0, 99
    broken = api.post(f"{API}/references", headers=bearer(wired), json=SAID)
    assert (broken.status_code, "does not answer" in broken.json["error"]["message"]) == (503, True)
    hub.broken = 2
    assert api.post(f"{API}/references", headers=bearer(wired), json=SAID).status_code == 201


def test_a_hub_that_says_nothing_is_given_up(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_benchmark(services, tmp_path / "files")
    monkeypatch.setattr(references, "briefly", lambda seconds: None)
    monkeypatch.setattr(hub_source, "_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        wired = build(dataclasses.replace(services.settings, hub_endpoint=endpoint))
        answer = web.create(wired).test_client().post(f"{API}/references", headers=bearer(wired), json=SAID)
    assert (answer.status_code, "does not answer" in answer.json["error"]["message"]) == (503, True)


def test_a_huge_body_is_not_read(api: FlaskClient, wired: Services, hub: FakeHub) -> None:
    huge = b'{"reference": "' + b"x" * 2**21 + b'"}'
    headers = bearer(wired) | {"Content-Type": "application/json"}
    for path in ("references", "references/validate", "models", "models/check"):
        answer = api.post(f"{API}/{path}", headers=headers, data=huge)
        assert (answer.status_code, answer.json["error"]["code"]) == (413, "too_large"), path
    for field in ("description", "supervision", "benchmark", "reference"):
        half = json.dumps(SAID | {field: "\ud800"})
        assert api.post(f"{API}/references", headers=headers, data=half).status_code == 400, field
    hub.asked.clear()
    deep = b"[" * 100_000
    assert api.post(f"{API}/references", headers=headers, data=deep).status_code == 400
    assert hub.asked == []


def test_too_large_is_told_before_it_is_fetched(services: Services, tmp_path: Path, hub: FakeHub) -> None:
    add_benchmark(services, tmp_path / "files")
    hub.dataset("lab/big", files={"p.jsonl": b"x" * (2**20 + 1)})
    small = build(dataclasses.replace(services.settings, hub_endpoint=hub.url, max_file_mb=1))
    said = SAID | {"reference": "hf://datasets/lab/big/p.jsonl"}
    answer = web.create(small).test_client().post(f"{API}/references", headers=bearer(small), json=said)
    assert (answer.status_code, answer.json["error"]["code"]) == (413, "too_large")
    assert not [path for _, path in hub.asked if "/resolve/" in path]


def test_one_key_makes_one_submission_wherever_the_branch_went(api: FlaskClient, wired: Services, hub: FakeHub) -> None:
    headers = bearer(wired) | {"Idempotency-Key": "k1"}
    first = api.post(f"{API}/references", headers=headers, json=SAID)
    hub.repos[("datasets", "lab/runs")].files["p.jsonl"] = jsonl(GOOD[:3])
    hub.asked.clear()
    again = api.post(f"{API}/references", headers=headers, json=SAID)
    assert (first.status_code, again.status_code, again.json["id"]) == (201, 201, first.json["id"])
    assert hub.asked == [], "the first answer is given again"
    other = api.post(f"{API}/references", headers=headers, json=SAID | {"reference": f"{REFERENCE}@main"})
    assert (other.status_code, other.json["error"]["code"]) == (409, "conflict")
    file = {"file": (io.BytesIO(jsonl(GOOD)), "p.jsonl"), "benchmark": "small", "system": "S"}
    assert api.post(f"{API}/submissions", headers=headers, data=file).status_code == 409
    assert counted(wired) == 1


def test_simultaneous_requests_with_one_key(api: FlaskClient, wired: Services) -> None:
    headers, ids, app = bearer(wired) | {"Idempotency-Key": "k2"}, list[str](), api.application
    ready = threading.Barrier(3)

    def send() -> None:
        ready.wait()
        ids.append(app.test_client().post(f"{API}/references", headers=headers, json=SAID).json["id"])

    threads = [threading.Thread(target=send) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(set(ids)), counted(wired)) == (1, 1)


def test_a_used_up_quota_and_a_bad_card_fetch_nothing(services: Services, tmp_path: Path, hub: FakeHub) -> None:
    add_benchmark(services, tmp_path / "files")
    one = build(dataclasses.replace(services.settings, hub_endpoint=hub.url, submissions_per_day=1))
    client, headers = web.create(one).test_client(), bearer(services)
    for wrong, status in (({"system": "\x07"}, 400), ({"benchmark": "none"}, 404), ({"links": ["javascript:1"]}, 400)):
        assert client.post(f"{API}/references", headers=headers, json=SAID | wrong).status_code == status
    assert hub.asked == []
    assert client.post(f"{API}/references", headers=headers, json=SAID).status_code == 201
    hub.asked.clear()
    over = client.post(f"{API}/references", headers=headers, json=SAID | {"system": "T"})
    assert (over.status_code, over.json["error"]["code"], hub.asked) == (429, "over_quota", [])
    assert client.post(f"{API}/references/validate", headers=headers, json=SAID).status_code == 200, "that is free"


def test_the_field_on_the_page(api: FlaskClient, wired: Services, hub: FakeHub) -> None:
    sign_in(api, token(wired, "one"))
    field = csrf(api.get("/submit").text)
    said = {"csrf": field, "benchmark": "small", "system": "S", "architecture": "unknown"}
    evil = "hf://datasets/<script>alert(1)</script>"
    echoed = api.post("/submit", data=said | {"reference": evil})
    assert (echoed.status_code, "<script>alert" in echoed.text, "&lt;script&gt;alert" in echoed.text) == (
        400,
        False,
        True,
    )
    both = api.post("/submit", data=said | {"reference": REFERENCE, "file": (io.BytesIO(b"x"), "x.csv")})
    assert (both.status_code, "Leave one of them out" in both.text) == (400, True)
    neither = api.post("/submit", data=said)
    assert (neither.status_code, "No file was chosen" in neither.text) == (400, True)
    gated = api.post("/submit", data=said | {"reference": "hf://datasets/lab/gated/p.jsonl"})
    assert (gated.status_code, "is gated" in gated.text, "submit the file itself" in gated.text) == (403, True, True)
    forged = api.post("/submit", data=said | {"csrf": "guessed", "reference": REFERENCE})
    assert (forged.status_code, counted(wired)) == (403, 0)
    looked = api.post("/submit", data=said | {"reference": REFERENCE, "do": "validate"})
    pinned = f"{REFERENCE}@{hub.repos[('datasets', 'lab/runs')].at('main')[0]}"
    assert (looked.status_code, "would be accepted" in looked.text, pinned in looked.text) == (200, True, True)
    assert counted(wired) == 0
    file = {"file": (io.BytesIO(jsonl(GOOD[:3])), "p.jsonl"), "reference": "  "}
    assert api.post("/submit", data=said | {"system": "By file"} | file).status_code == 303, "the other way still works"
    sent = api.post("/submit", data=said | {"reference": REFERENCE})
    assert sent.status_code == 303
    assert pinned in api.get(sent.location).text
    assert pinned not in web.create(wired).test_client().get(sent.location).text


def test_the_client_and_the_command_line(
    wired: Services, hub: FakeHub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving_web(wired) as url:
        client = Client(url, token(wired, "one"))
        assert client.validate_reference(REFERENCE, "small")["report"]["accepted"] is True
        made = client.submit_reference(REFERENCE, "small", SystemCard("By client"), False)
        assert made["source"].startswith(f"{REFERENCE}@")
        with pytest.raises(NotFound, match="no dataset"):
            client.submit_reference("hf://datasets/lab/none/p.jsonl", "small", SystemCard("X"), False)
        with pytest.raises(Refused):
            client.submit_reference("hf://datasets/lab/runs/broken.csv", "small", SystemCard("X"), False)
        aqa = runner(Settings(data_dir=wired.settings.data_dir), monkeypatch, capsys)
        monkeypatch.setenv("AQA_HUB_ENDPOINT", "http://127.0.0.1:9")
        options = ("--benchmark", "small", "--system", "T", "--url", url, "--token", token(wired, "one"), "--json")
        ended = aqa("submit", REFERENCE, *options)
        assert ended.code == 0, ended.err
        assert ended.json["source"].startswith(f"{REFERENCE}@"), "the service fetched it and wrote down from where"
