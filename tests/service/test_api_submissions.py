"""The API's main way: submit, follow, read the scores, publish, see it on the board; and what it refuses."""

from __future__ import annotations

import dataclasses
import io
import json
import threading

import pyarrow.parquet
import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select

from core.records import Judgment
from core.tables import Submission
from server import web
from server.bootstrap import Services, build
from server.worker import Worker
from submissions.formats import KINDS
from tests.small_benchmark import GOOD, OSLO, jsonl
from tests.web_client import API, bearer, form, submit


def stored(services: Services) -> int:
    with services.database.reading() as session:
        return session.scalar(select(func.count()).select_from(Submission)) or 0


def test_from_a_file_to_the_board(client: FlaskClient, services: Services) -> None:
    mine = bearer(services)
    sent = client.post(f"{API}/submissions", headers=mine, data=form())
    assert sent.status_code == 201
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
    assert (scores["metrics"]["ais"]["value"], bool(scores["metrics"]["ais"]["reason"])) == (None, True)
    assert scores["report"]["matched"] == 5
    assert client.get(f"{API}/leaderboard?benchmark=small").json["rows"] == []
    assert client.post(f"{at}/publish", headers=mine).json["published"] is True
    (row,) = client.get(f"{API}/leaderboard?benchmark=small").json["rows"]
    assert (row["system"], row["metrics"]["em"]["value"]) == ("S", 0.6)
    assert client.post(f"{at}/withdraw", headers=mine).json["published"] is False
    assert client.get(f"{API}/leaderboard?benchmark=small").json["rows"] == []


def test_the_fields_of_a_submission_are_kept(client: FlaskClient, services: Services) -> None:
    card = {
        "architecture": "post-hoc-retrieval", "supervision": "64-shot", "description": "D <b>",
        "links": ["https://a.example/x", "https://b.example/y\nhttps://c.example"], "uses_autoais": "true",
    }  # fmt: skip
    mine = bearer(services)
    entry = client.post(f"{API}/submissions", headers=mine, data=form(system=" Sys ", publish="true", **card)).json
    assert {key: entry[key] for key in card} == card | {
        "links": ["https://a.example/x", "https://b.example/y", "https://c.example"], "uses_autoais": True,
    }  # fmt: skip
    assert (entry["system"], entry["published"], entry["version"], entry["coverage"]) == ("Sys", True, 1, 1.0)
    assert [e["id"] for e in client.get(f"{API}/submissions", headers=mine).json["submissions"]] == [entry["id"]]
    assert client.get(f"{API}/submissions?benchmark=other", headers=mine).json["submissions"] == []
    me = client.get(f"{API}/me", headers=mine).json
    assert isinstance(me.pop("token_id"), int)
    assert me == {
        "team": "one", "role": "team", "submissions_today": 1, "submissions_per_day": 20,
        "alias": None, "alias_until": None,
    }  # fmt: skip


def test_a_refused_file_names_its_rows_and_stores_nothing(client: FlaskClient, services: Services) -> None:
    twice = jsonl([*GOOD, GOOD[0]])
    refused = client.post(f"{API}/submissions", headers=bearer(services), data=form(twice))
    error = refused.json["error"]
    assert (refused.status_code, error["code"]) == (422, "refused")
    assert "duplicate_question" in {place["kind"] for place in error["places"]}
    assert 6 in {place["row"] for place in error["places"]}
    assert (stored(services), list(services.blobs.keys())) == (0, [])


def test_validating_reports_and_stores_nothing(client: FlaskClient, services: Services) -> None:
    mine = bearer(services)
    good = client.post(f"{API}/validate", headers=mine, data=form()).json
    assert (good["report"]["accepted"], good["coverage"], len(good["digest"])) == (True, 1.0, 64)
    assert good["report"]["counts"]["unknown_attribution"] == 1
    bad = client.post(f"{API}/validate", headers=mine, data=form(b"question,answer\n", name="a.csv"))
    assert (bad.status_code, bad.json["report"]["accepted"], bad.json["coverage"]) == (200, False, None)
    assert bad.json["report"]["fatal"]
    assert (stored(services), list(services.blobs.keys())) == (0, [])
    assert client.get(f"{API}/me", headers=mine).json["submissions_today"] == 0


def test_what_is_wrong_with_the_fields_is_named(client: FlaskClient, services: Services) -> None:
    mine = bearer(services)
    for fields, named in (
        ({"benchmark": "small", "system": "S"}, "file"),
        (form(system=""), "system"),
        (form(architecture="magic"), "architecture"),
        (form(arcitecture="other"), "arcitecture"),
        (form(system="a\0b"), "system"),
        (form(description="a\0b"), "NUL"),
        (form(links="javascript:alert(1)"), "javascript:alert(1)"),
    ):
        answer = client.post(f"{API}/submissions", headers=mine, data=fields)
        assert (answer.status_code, answer.json["error"]["code"]) == (400, "invalid_input")
        assert named in answer.json["error"]["message"]
    missing = client.post(f"{API}/submissions", headers=mine, data=form(benchmark="none"))
    assert (missing.status_code, "small" in missing.json["error"]["hint"]) == (404, True)
    assert stored(services) == 0


def test_nul_characters_are_never_a_fault_of_ours(client: FlaskClient, services: Services) -> None:
    mine = bearer(services)
    for answer in (
        client.get(f"{API}/submissions/%00", headers=mine),
        client.get(f"{API}/benchmarks/a%00"),
        client.get(f"{API}/leaderboard?benchmark=%00"),
        client.post(f"{API}/submissions", headers=mine, data=form(benchmark="\0")),
        client.get("/benchmarks/%00"),
    ):
        assert answer.status_code in (400, 404), answer.text


def test_a_key_makes_one_submission(client: FlaskClient, services: Services) -> None:
    mine = bearer(services) | {"Idempotency-Key": "k1"}
    first, again = (client.post(f"{API}/submissions", headers=mine, data=form()) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json["id"] == again.json["id"]
    assert stored(services) == 1
    other = client.post(f"{API}/submissions", headers=mine, data=form(system="T"))
    assert (other.status_code, other.json["error"]["code"]) == (409, "conflict")
    theirs = bearer(services, "two") | {"Idempotency-Key": "k1"}
    assert client.post(f"{API}/submissions", headers=theirs, data=form()).json["id"] != first.json["id"]
    without = client.post(f"{API}/submissions", headers=bearer(services), data=form())
    assert (without.status_code, without.json["error"]["code"]) == (409, "conflict")


def test_a_key_sent_many_times_at_once_makes_one_submission(web_app, services: Services) -> None:
    mine = bearer(services) | {"Idempotency-Key": "k"}
    answers = []

    def send() -> None:
        answers.append(web_app.test_client().post(f"{API}/submissions", headers=mine, data=form()))

    threads = [threading.Thread(target=send) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status_code for answer in answers] == [201] * 6
    assert len({answer.json["id"] for answer in answers}) == 1
    assert stored(services) == 1


def test_the_quota_of_a_day_ends_and_validating_stays_free(services: Services, web_app) -> None:
    few = build(dataclasses.replace(services.settings, submissions_per_day=1))
    client, mine = web.create(few).test_client(), bearer(services)
    submit(client, mine)
    over = client.post(f"{API}/submissions", headers=mine, data=form(system="T"))
    assert (over.status_code, over.json["error"]["code"]) == (429, "over_quota")
    assert client.post(f"{API}/validate", headers=mine, data=form()).status_code == 200
    few.database.engine.dispose()


def test_names_of_files_are_data(client: FlaskClient, services: Services, tmp_path) -> None:
    mine = bearer(services)
    at = submit(client, mine, name="../../etc/<b>passwd")
    with services.database.reading() as session:
        assert session.get_one(Submission, at).file_name == "../../etc/<b>passwd"
    assert not list(tmp_path.rglob("*passwd*"))


def test_scored_outputs_in_every_form(client: FlaskClient, services: Services) -> None:
    mine = bearer(services)
    formula = [{**GOOD[0], "answer": "=1+1"}, *GOOD[1:]]
    at = f"{API}/submissions/{submit(client, mine, data=jsonl(formula))}/download"
    assert client.get(at, headers=mine).status_code == 409
    Worker(services).run_until_idle()
    lines = client.get(f"{at}?kind=jsonl", headers=mine)
    rows = [json.loads(line) for line in lines.text.splitlines()]
    assert [row["em"] for row in rows] == [0.0, 1.0, 1.0, 0.0, 0.0]
    assert (rows[0]["answer"], rows[0]["attribution"], rows[0]["references"]) == ("=1+1", OSLO, ["Oslo"])
    csv = client.get(f"{at}?kind=csv", headers=mine)
    assert (csv.mimetype, "'=1+1" in csv.text) == ("text/csv", True)
    assert csv.headers["Content-Disposition"].startswith("attachment; filename=")
    parquet = client.get(f"{at}?kind=parquet", headers=mine)
    assert pyarrow.parquet.read_table(io.BytesIO(parquet.data)).to_pylist() == rows
    manifest = client.get(f"{at}?kind=manifest", headers=mine).json
    assert set(manifest["outputs"]) >= {"examples.csv", "examples.jsonl", "examples.parquet", "scores.json"}
    assert f"--judge {manifest['judge']['name'].partition('@')[0]} " in manifest["command"]
    assert client.get(f"{at}?kind=exe", headers=mine).status_code == 400


def test_a_failed_evaluation_says_why(client: FlaskClient, services: Services) -> None:
    class Broken:
        key, title, help, score_name, signature = "broken", "Broken", "", "broken", "judge:broken@1"

        def judge(self, pairs: list[object]) -> list[Judgment]:
            raise MemoryError("out of memory")

    services.__dict__["scorer"] = services.scorer_with(Broken())
    services.queue._attempts = 1
    mine = bearer(services)
    at = f"{API}/submissions/{submit(client, mine)}"
    Worker(services).run_until_idle()
    entry = client.get(at, headers=mine).json
    assert (entry["state"], "MemoryError" in entry["reason"]) == ("failed", True)
    assert client.get(f"{at}/scores", headers=mine).status_code == 409
    published = client.post(f"{at}/publish", headers=mine)
    assert (published.status_code, published.json["error"]["code"]) == (409, "conflict")
    assert client.get(f"{API}/me", headers=mine).json["submissions_today"] == 0


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_filled_template_is_accepted(client: FlaskClient, services: Services, kind: str) -> None:
    template = client.get(f"{API}/benchmarks/small/template?kind={kind}")
    assert template.status_code == 200
    entry = client.post(f"{API}/submissions", headers=bearer(services), data=form(template.data, name=f"t.{kind}")).json
    assert entry["coverage"] == 1.0
    assert client.get(f"{API}/benchmarks/none/template").status_code == 404


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_hands_out_every_kind_of_template(client: FlaskClient, kind: str) -> None:
    answer = client.get(f"/benchmarks/small/template.{kind}")
    assert (answer.status_code, answer.headers["Content-Disposition"]) == (
        200, f"attachment; filename=small-template.{kind}",
    )  # fmt: skip
