"""Snapshots by job, command line and API."""

from __future__ import annotations

import contextlib
import copy
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select

from core.settings import Settings
from core.tables import BoardSnapshot, Job
from leaderboard import snapshots
from server.bootstrap import Services
from server.exchange.jobs import Periodic
from server.snapshots import KIND, keep
from server.worker import Worker
from tests.command_line import runner
from tests.web_client import API, bearer, submit


@pytest.fixture
def published(client: FlaskClient, services: Services) -> FlaskClient:
    submit(client, bearer(services), publish="true")
    Worker(services).run_until_idle()
    return client


def count(services: Services) -> int:
    with services.database.reading() as session:
        return session.scalar(select(func.count()).select_from(BoardSnapshot)) or 0


def test_workers_take_one_a_day(published: FlaskClient, services: Services) -> None:
    for _ in range(3):
        Periodic(services).tick()
        Worker(services).run_until_idle()
    with services.database.reading() as session:
        states = session.scalars(select(Job.state).where(Job.kind == KIND)).all()
    assert list(states) == ["done"]
    assert count(services) == 1


def test_two_at_one_moment_make_one(
    published: FlaskClient, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are made to have read the board before either stores it, unless they wait for each other."""
    met, rows = threading.Barrier(2), snapshots.rows

    def slow(*asked: object) -> object:
        found = rows(*asked)  # type: ignore[arg-type]
        with contextlib.suppress(threading.BrokenBarrierError):
            met.wait(0.5)
        return found

    monkeypatch.setattr(snapshots, "rows", slow)
    with ThreadPoolExecutor(2) as both:
        made = [each.result(30) for each in [both.submit(keep, services.database, "small") for _ in range(2)]]
    assert sorted(each is None for each in made) == [False, True]
    assert count(services) == 1


def test_the_command_line_takes_and_lists_them(
    published: FlaskClient,
    services: Services,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    aqa = runner(settings, monkeypatch, capsys)
    assert "No snapshot has been taken yet" in aqa("board", "list", "--benchmark", "small").out
    assert "1 system." in aqa("board", "snapshot").out
    assert aqa("board", "snapshot", "--benchmark", "small", "--json").json == {"small": None}
    assert "nothing has changed" in aqa("board", "snapshot").out
    [one] = aqa("board", "list", "--benchmark", "small", "--json").json
    assert one["systems"] == 1
    assert aqa("board", "list", "--benchmark", "none").code == 2


def test_the_api_lists_them_and_gives_them_out(published: FlaskClient, services: Services) -> None:
    Periodic(services).tick()
    Worker(services).run_until_idle()
    [one] = published.get(f"{API}/leaderboard/snapshots?benchmark=small").json["snapshots"]
    at = f"{API}/leaderboard/snapshots/{one['id']}"
    board = json.loads(published.get(at).data)
    assert [row["system"] for row in board["rows"]] == ["S"]
    with services.database.transaction() as session:  # as a version that knows more would have stored it
        held = session.get_one(BoardSnapshot, one["id"])
        whole = copy.deepcopy(held.board)
        for each in (whole["columns"][0], whole["rows"][0], *whole["rows"][0]["metrics"].values()):
            each["unheard_of"] = 1
        held.board = whole
    assert json.loads(published.get(at).data) == board
    answer = published.get(f"{at}?kind=csv")
    assert answer.data.startswith(b"system,team")
    assert f"{one['taken_at'][:10]}-small-leaderboard.csv" in answer.headers["Content-Disposition"]
    assert published.get(f"{API}/leaderboard/snapshots/999").status_code == 404
    assert published.get(f"{API}/leaderboard/snapshots/x").status_code == 404
    assert published.get(f"{API}/leaderboard/snapshots?benchmark=none").status_code == 404
