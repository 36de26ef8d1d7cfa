"""The API's main way: submit, follow, read the scores, publish, see it on the board; and what it refuses."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from server import auth, web
from server.bootstrap import Services
from server.worker import Worker
from tests.small_benchmark import GOOD, add_benchmark, jsonl

API = "/api/v1"


@pytest.fixture
def client(services: Services, tmp_path: Path) -> FlaskClient:
    add_benchmark(services, tmp_path / "files")
    return web.create(services).test_client()


def bearer(services: Services, team: str, role: str = "team") -> dict[str, str]:
    with services.database.transaction() as session:
        try:
            found = auth.find_team(session, team)
        except auth.NotFound:
            found = auth.add_team(session, team)
        return {"Authorization": f"Bearer {auth.new_token(session, found, role, 1)}"}


def form(data: bytes, **fields: object) -> dict[str, object]:
    return {"file": (io.BytesIO(data), "answers.jsonl"), "benchmark": "small", "system": "S", **fields}


def test_from_a_file_to_the_board(client: FlaskClient, services: Services) -> None:
    mine = bearer(services, "one")
    sent = client.post(f"{API}/submissions", headers=mine, data=form(jsonl(GOOD)))
    assert sent.status_code == 201, sent.text
    entry = sent.json
    assert (entry["state"], entry["queue_position"], entry["published"]) == ("queued", 0, False)
    at = f"{API}/submissions/{entry['id']}"
    waiting = client.get(f"{at}/scores", headers=mine)
    assert (waiting.status_code, waiting.json["error"]["code"]) == (409, "conflict")
    assert Worker(services).run_until_idle() == 1
    assert client.get(at, headers=mine).json["state"] == "scored"
    scores = client.get(f"{at}/scores", headers=mine).json
    assert scores["metrics"]["em"]["value"] == 0.6
    assert scores["metrics"]["em"]["signature"].startswith("em|bench:small@")
    assert client.get(f"{API}/leaderboard?benchmark=small").json["rows"] == []
    assert client.post(f"{at}/publish", headers=mine).json["published"] is True
    (row,) = client.get(f"{API}/leaderboard?benchmark=small").json["rows"]
    assert (row["system"], row["metrics"]["em"]["value"]) == ("S", 0.6)
    assert client.post(f"{at}/withdraw", headers=mine).json["published"] is False
    assert client.get(f"{API}/leaderboard?benchmark=small").json["rows"] == []
