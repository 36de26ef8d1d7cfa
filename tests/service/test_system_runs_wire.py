"""Reference systems over the API and on the maintainers' page: told to anybody, started by maintainers alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from core.tables import AuditEvent, Job, RunRow, Submission
from server.bootstrap import Services
from server.worker import Worker
from systems.catalog import catalog
from systems.records import LLM
from tests.scripted_parts import ScriptedLLM
from tests.web_client import API, bearer, csrf, sign_in, token

BASE = f"{API}/systems"
PLAIN = {"benchmark": "small", "changes": {"shots": "0"}}


@pytest.fixture
def house(services: Services) -> dict[str, str]:
    return bearer(services, "house", "maintainer")


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedLLM:
    """A language model in place of whichever is named."""
    model = ScriptedLLM(lambda question: "Oslo" if "norway" in question else "Rome")
    loaded: Callable[[str, int], LLM] = lambda spec, seed: model  # noqa: E731
    monkeypatch.setattr("server.run_parts.load_llm", loaded)
    return model


def rows(services: Services, kind: Any) -> list[Any]:
    with services.database.reading() as session:
        return list(session.scalars(select(kind)))


def test_the_catalog_is_told_to_anybody(client: FlaskClient) -> None:
    told = client.get(BASE).json["systems"]
    assert [each["name"] for each in told] == list(catalog())
    assert all("entered" not in each for each in told)
    assert {each["entered"] for each in client.get(f"{BASE}?benchmark=small").json["systems"]} == {False}
    one = client.get(f"{BASE}/rtr-10").json
    assert one["components"]["P"] == {"value": 1, "origin": "stated", "why": None}
    assert "reranker" in one["needs"]
    assert "T" not in one["settable"]
    assert client.get(f"{BASE}?benchmark=nowhere").status_code == 404
    missing = client.get(f"{BASE}/RTR-99")
    assert (missing.status_code, "Did you mean" in missing.json["error"]["hint"]) == (404, True)


def test_a_maintainer_has_one_answer_a_benchmark(
    client: FlaskClient, services: Services, house: dict[str, str], scripted: ScriptedLLM
) -> None:
    made = client.post(f"{BASE}/Small-Post/runs", headers=house, json=PLAIN | {"limit": 2, "publish": True})
    assert made.status_code == 202
    run = made.json
    assert (run["state"], run["team"], run["limit"], run["submission_id"]) == (
        "queued", "Reference systems", 2, None,
    )  # fmt: skip
    queued = next(event for event in rows(services, AuditEvent) if event.action == "run.queued")
    assert (queued.actor, queued.subject) == ("token", run["id"])
    Worker(services).run_until_idle()
    done = client.get(f"{BASE}/runs/{run['id']}", headers=house).json
    assert (done["state"], done["progress"], done["details"]["answered"]) == ("done", 1.0, 2)
    assert "llm:scripted" in done["details"]["signature"]
    assert len(scripted.prompts) == 2
    [entered] = rows(services, Submission)
    assert (entered.id, entered.state, entered.published_at is not None) == (done["submission_id"], "scored", True)
    assert client.get(f"{BASE}/runs", headers=house).json["runs"] == [done]
    again = client.post(f"{BASE}/runs/{run['id']}/resume", headers=house, json={})
    assert (again.status_code, again.json["error"]["code"]) == (409, "conflict")


def test_a_budget_ends_it_and_more_is_granted(
    client: FlaskClient, services: Services, house: dict[str, str], scripted: ScriptedLLM
) -> None:
    run = client.post(f"{BASE}/Small-Post/runs", headers=house, json=PLAIN | {"tokens": 0}).json
    Worker(services).run_until_idle()
    assert client.get(f"{BASE}/runs/{run['id']}", headers=house).json["state"] == "partial"
    resumed = client.post(f"{BASE}/runs/{run['id']}/resume", headers=house, json={"tokens": 10_000})
    assert (resumed.status_code, resumed.json["state"]) == (202, "queued")
    Worker(services).run_until_idle()
    assert client.get(f"{BASE}/runs/{run['id']}", headers=house).json["state"] == "done"


def test_nobody_else_starts_or_sees_runs(client: FlaskClient, services: Services) -> None:
    for headers, status in (({}, 401), (bearer(services), 403), (bearer(services, "r", "rater"), 403)):
        assert client.post(f"{BASE}/Small-Post/runs", headers=headers, json=PLAIN).status_code == status
        assert client.get(f"{BASE}/runs", headers=headers).status_code == status
        assert client.post(f"{BASE}/runs/x/resume", headers=headers, json={}).status_code == status
    assert rows(services, RunRow) == rows(services, Job) == []


@pytest.mark.parametrize(
    ("system", "sent", "status"),
    [
        ("Small-Post", {}, 400),
        ("Small-Post", {"benchmark": "nowhere"}, 404),
        ("Smal-Post", {"benchmark": "small"}, 404),
        ("Small-Post", {"benchmark": "small", "limit": 0}, 400),
        ("Small-Post", {"benchmark": "small", "limit": "2"}, 400),
        ("Small-Post", {"benchmark": "small", "colour": "red"}, 400),
        ("Small-Post", {"benchmark": "small", "changes": {"P": "2"}}, 400),
        ("Small-Post", {"benchmark": "small", "changes": {"model": "/etc"}}, 400),
        ("Small-Post", {"benchmark": "small", "changes": {"model": "~/models"}}, 400),
        ("Small-Post", {"benchmark": "small", "changes": {"model": "../models/x"}}, 400),
        ("Small-Post", {"benchmark": "small", "changes": {"model": "openai:gpt@http://169.254.169.254/v1"}}, 400),
        ("Attribute-BM25", {"benchmark": "small", "changes": {"answerer": "answers:/etc/passwd"}}, 400),
        ("RTR-10", {"benchmark": "small"}, 400),
    ],
)
def test_what_cannot_be_started(
    client: FlaskClient, services: Services, house: dict[str, str], system: str, sent: dict[str, Any], status: int
) -> None:
    answer = client.post(f"{BASE}/{system}/runs", headers=house, json=sent)
    assert answer.status_code == status, answer.text
    assert answer.json["error"]["hint"]
    assert rows(services, RunRow) == []


def test_the_maintainers_page(client: FlaskClient, services: Services, scripted: ScriptedLLM) -> None:
    sign_in(client, token(services, "house", "maintainer"))
    page = client.get("/systems").text
    assert "Nothing has run yet" in page
    assert all(name in page for name in catalog())
    sent = {"csrf": csrf(page), "benchmark": "small", "system": "Small-Post", "changes": "shots=0\nk = 3", "limit": "2"}
    wrong = client.post("/systems", data=sent | {"limit": "0"})
    assert (wrong.status_code, "no number of questions" in wrong.text) == (400, True)
    assert "shots=0" in wrong.text, "what was typed stays"
    assert client.post("/systems", data=sent | {"changes": "shots"}).status_code == 400
    assert client.post("/systems", data=sent).status_code == 303
    Worker(services).run_until_idle()
    [run] = rows(services, RunRow)
    assert (run.state, run.plan["changes"], run.plan["limit"]) == ("done", {"shots": "0", "k": "3"}, 2)
    after = client.get("/systems?benchmark=small").text
    assert f"/submissions/{run.submission_id}" in after
    assert "Resume" not in after
    assert client.post(f"/systems/runs/{run.id}/resume", data={"csrf": csrf(after)}).status_code == 409
    assert client.post("/systems", data={k: v for k, v in sent.items() if k != "csrf"}).status_code in (400, 403)


def test_the_page_is_the_maintainers(client: FlaskClient, services: Services) -> None:
    sign_in(client, token(services, "one"))
    assert client.get("/systems").status_code == 403
    assert 'href="/systems"' not in client.get("/").text
