"""`/metrics`: guarded by its own token, and true."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from core import queue_care
from server import web
from server.bootstrap import Services
from server.worker import Worker
from tests.small_benchmark import GOOD, add_benchmark, add_team, submit

TOKEN = {"Authorization": "Bearer scrape me"}


@pytest.fixture
def client(services: Services, tmp_path: Path):
    services.settings = dataclasses.replace(services.settings, metrics_token="scrape me")
    add_benchmark(services, tmp_path / "files")
    return web.create(services).test_client()


def value(text: str, line: str) -> float:
    found = re.search(rf"^{re.escape(line)} (\S+)$", text, re.MULTILINE)
    assert found, f"{line} is not in\n{text}"
    return float(found[1])


def test_it_tells_queues_judgments_and_latencies(client, services: Services) -> None:
    team = add_team(services)
    submit(services, team)
    Worker(services).run_until_idle()
    submit(services, team, GOOD[:3])
    Worker(services).run_until_idle()
    submit(services, team, GOOD[:2])
    with services.database.transaction() as session:
        queue_care.pause(session, "gpu")
    client.get("/healthz")
    text = client.get("/metrics", headers=TOKEN).text
    assert value(text, 'aqa_jobs{queue="cpu",state="queued"}') == 1
    assert value(text, 'aqa_jobs{queue="cpu",state="running"}') == 0
    assert 0 < value(text, 'aqa_oldest_job_seconds{queue="cpu"}') < 60
    assert value(text, 'aqa_queue_paused{queue="gpu"}') == 1
    assert value(text, "aqa_judged_pairs_total") == 3
    assert value(text, "aqa_judgment_cache_hits_total") == 3
    assert value(text, "aqa_judge_seconds_total") > 0
    assert value(text, 'aqa_request_seconds_count{method="GET",route="/healthz",status="200"}') == 1


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer scrape mé"}])
def test_it_asks_for_its_token(client, headers: dict[str, str]) -> None:
    assert client.get("/metrics", headers=headers).status_code in (401, 303)


def test_without_a_token_it_is_not_there(services: Services) -> None:
    assert web.create(services).test_client().get("/metrics").status_code == 404
