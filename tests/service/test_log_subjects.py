"""A submission can be followed through the logs: from the request over the queue to the worker, with its team."""

from __future__ import annotations

import dataclasses
import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from server import web
from server.bootstrap import Services, build
from server.logs import JsonLines
from server.worker import Worker
from tests.small_benchmark import add_benchmark
from tests.web_client import API, bearer, submit


@pytest.fixture
def lines() -> Iterator[Any]:
    """What the service logs, as it would be written."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("aqa")
    before = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    logger.removeHandler(handler)
    logger.setLevel(before)


def test_one_id_leads_through_web_queue_and_worker(client: FlaskClient, services: Services, lines: Any) -> None:
    headers = bearer(services)
    at = submit(client, headers)
    team = 1
    queued, asked = lines()
    assert (queued["logger"], queued["subject"], queued["team"]) == ("aqa.queue", at, team)
    assert "is queued on cpu: evaluate" in queued["message"]
    assert (asked["logger"], asked["subject"], asked["team"]) == ("aqa.web", at, team)
    assert (asked["method"], asked["path"], asked["status"]) == ("POST", f"{API}/submissions", 201)
    assert 0 < asked["seconds"] < 60
    Worker(services).run_until_idle()
    worked = lines()[2:]
    assert worked[0]["message"].startswith("job 1: evaluate, attempt 1")
    assert {(each["subject"], each["team"]) for each in worked} == {(at, team)}
    client.get(f"{API}/submissions/{at}?token=aqa_secret", headers=headers)
    last = lines()[-1]
    assert (last["subject"], last["team"], last["path"]) == (at, team, f"{API}/submissions/{at}")
    assert "aqa_secret" not in json.dumps(lines())


def test_one_request_does_not_speak_for_the_next(client: FlaskClient, services: Services, lines: Any) -> None:
    at = submit(client, bearer(services))
    client.get(f"{API}/benchmarks")
    client.get("/healthz")
    last = lines()[-1]
    assert last["path"] == f"{API}/benchmarks"
    assert "subject" not in last
    assert "team" not in last
    assert at


def test_parts_are_about_their_submission_and_failures_too(
    services: Services, tmp_path: Path, lines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = build(dataclasses.replace(services.settings, fanout_pairs=1))
    add_benchmark(split, tmp_path / "files")
    at = submit(web.create(split).test_client(), bearer(split))

    def broken(*_: object) -> None:
        raise RuntimeError("out of order")

    worker = Worker(split)
    worker.run_one()
    monkeypatch.setattr("server.fanout.judge", broken)
    worker.run_one()
    told = [each for each in lines() if each["logger"] == "aqa.worker"]
    assert [each["subject"] for each in told] == [at] * len(told)
    assert [each["team"] for each in told] == [1] * len(told)
    assert "out of order" in told[-1]["traceback"]
    split.database.engine.dispose()
