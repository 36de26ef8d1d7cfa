"""200 uploads from 50 clients at once, over HTTP: all present, none doubled, quotas exact.

Counts are printed (`pytest -s`); those of one run stand in docs/operations.md.
"""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from sqlalchemy import func, select

from core.settings import Settings
from core.tables import Job, PredictionRow, Submission, System, Team
from server.bootstrap import Services, build
from server.worker import Worker
from tests.live_server import serving
from tests.small_benchmark import GOOD, add_benchmark, jsonl
from tests.web_client import API, token

pytestmark = [pytest.mark.slow, pytest.mark.service, pytest.mark.timeout(600)]
CLIENTS, EACH, TEAMS, QUOTA = 50, 4, 10, 15
TAKEN = TEAMS * QUOTA
Told = list[tuple[str, int, str]]
"""Per request: the system's name, the status, and the submission's id if there is one."""


def test_uploads_at_once(settings: Settings, tmp_path: Path) -> None:
    """50 clients of 10 teams send 200 files; a team may submit 15, so 150 are taken. Each is sent twice by its key."""
    services = build(
        dataclasses.replace(
            settings, submissions_per_day=QUOTA, rate_limit="", rate_limit_files="", pool_timeout=60.0,
            embedded_worker=False,
        )
    )  # fmt: skip
    add_benchmark(services, tmp_path / "files")
    tokens = [token(services, f"team {n}") for n in range(TEAMS)]
    begun = time.monotonic()
    with serving(services) as url, ThreadPoolExecutor(CLIENTS) as pool:
        told = [each for part in pool.map(lambda n: _client(url, tokens, n), range(CLIENTS)) for each in part]
    seconds = time.monotonic() - begun
    refused = _check_answers(told)
    _check_rows(services, {name: made for name, status, made in told if status == 201})
    assert Worker(services).run_until_idle() >= TAKEN
    with services.database.reading() as session:
        assert set(session.scalars(select(Submission.state))) == {"scored"}
    kind = services.database.url.get_backend_name()
    print(f"\n{kind}: {CLIENTS * EACH} files from {CLIENTS} clients, each sent twice, in {seconds:.0f} s: "
          f"{TAKEN} stored and scored, {refused} over quota, 0 lost, 0 doubled")  # fmt: skip
    services.database.engine.dispose()


def _client(url: str, tokens: list[str], number: int) -> Told:
    told: Told = []
    sign = {"Authorization": f"Bearer {tokens[number % TEAMS]}"}
    with httpx.Client(base_url=url, timeout=120, headers=sign) as client:
        for n in range(EACH):
            name = f"system {number}-{n}"
            rows = jsonl([{**GOOD[0], "answer": name}, *GOOD[1:]])
            for _ in range(2):  # as a client does that did not see the first answer
                answer = client.post(
                    f"{API}/submissions", files={"file": ("a.jsonl", rows)}, headers={"Idempotency-Key": name},
                    data={"benchmark": "small", "system": name},
                )  # fmt: skip
                told.append((name, answer.status_code, answer.json().get("id", "")))
    return told


def _check_answers(told: Told) -> int:
    """Returns how many files were refused."""
    statuses = Counter(status for _, status, _ in told)
    refused = CLIENTS * EACH - TAKEN
    assert statuses == {201: 2 * TAKEN, 429: 2 * refused}, statuses
    ids = {(name, made) for name, status, made in told if status == 201}
    assert len(ids) == TAKEN, "sent again, a file names the same submission"
    return refused


def _check_rows(services: Services, ids: dict[str, str]) -> None:
    with services.database.reading() as session:
        stored = dict(session.execute(select(System.name, Submission.id).join(Submission)).all())
        assert stored == ids, "all present, none more"
        assert session.scalar(select(func.count()).select_from(Submission)) == TAKEN, "none doubled"
        assert set(session.scalars(select(Submission.version))) == {1}
        quotas = session.execute(
            select(Team.name, func.count()).select_from(Submission).join(System).join(Team).group_by(Team.name)
        )
        assert {n for _, n in quotas} == {QUOTA}, "quotas are exact"
        assert Counter(session.scalars(select(Job.subject))) == Counter(ids.values()), "one job each"
        assert session.scalar(select(func.count()).select_from(PredictionRow)) == len(GOOD) * TAKEN
