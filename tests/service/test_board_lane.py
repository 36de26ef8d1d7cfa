"""The board's JSON: the same bytes by whichever way, never stale, and known again by its ETag."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from core.changes import Changes
from core.database import Database
from core.settings import Settings
from core.tables import System, Team
from core.tables.base import utc_now
from leaderboard.board_json import BoardJson
from leaderboard.cache import Boards
from server import web
from server.board_lane import PATH, BoardLane
from server.bootstrap import Services, build
from server.worker import Worker
from tests.event_loop import run_async
from tests.small_benchmark import GOOD, add_benchmark, add_team, submit
from tests.web_client import bearer
from tests.worker_process import wait_until

BOARD = f"{PATH}?benchmark=small"


class Way:
    """The lane before Flask; `beyond` counts what it passed on."""

    def __init__(self, services: Services, seconds: float = 3_600.0) -> None:
        patient = BoardJson(services.database, Boards(services.database), seconds=seconds)
        services.__dict__["board_json"] = patient
        self.quiet = services.database.is_sqlite
        """Whether nobody else commits: on a shared PostgreSQL others do, and the lane passes on a little more."""
        self.flask = web.create(services)
        self.beyond = 0
        self.lane = BoardLane(self._flask, self.flask, services)
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(self.lane), base_url="http://x")

    async def _flask(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.beyond += 1
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        address = f"{scope['path']}?{scope['query_string'].decode()}"
        answer = self.flask.test_client().open(address, method=scope["method"], headers=headers)
        raw = [(name.lower().encode(), value.encode()) for name, value in answer.headers]
        await send({"type": "http.response.start", "status": answer.status_code, "headers": raw})
        await send({"type": "http.response.body", "body": answer.data})

    def passed(self, count: int) -> bool:
        """Whether so many requests went on to Flask."""
        return self.beyond == count if self.quiet else self.beyond >= count

    def get(self, address: str = BOARD, **headers: str) -> httpx.Response:
        return run_async(self.client.get(address, headers=headers))


@pytest.fixture
def way(services: Services, tmp_path: Path) -> Way:
    add_benchmark(services, tmp_path / "files")
    submit(services, add_team(services), publish=True)
    Worker(services).run_until_idle()
    return Way(services)


def test_the_lane_gives_what_flask_gives(way: Way) -> None:
    first = way.get()
    again = way.get()
    assert way.passed(1)
    assert again.status_code == 200
    assert again.content == first.content
    assert again.json()["rows"][0]["system"] == "system"
    moving = {"date", "retry-after"}  # of the moment; the server adds the date
    left, right = ({k: v for k, v in each.headers.items() if "ratelimit" not in k} for each in (first, again))
    if not way.quiet:  # then the second may have come from Flask as well
        right = {k: v for k, v in right.items() if k not in moving}
    assert {k: v for k, v in left.items() if k not in moving} == right
    assert int(again.headers["x-ratelimit-remaining"]) == int(first.headers["x-ratelimit-remaining"]) - 1
    assert way.get(f"{BOARD}&rank_by=em").json()["rank_by"] == "em"
    assert way.passed(2)


def test_an_unchanged_board_needs_no_body(way: Way) -> None:
    etag = way.get().headers["etag"]
    for tag in (etag, f'W/{etag}, "x"', "*"):
        direct = way.flask.test_client().get(BOARD, headers={"If-None-Match": tag})
        answer = way.get(**{"If-None-Match": tag})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", etag)
        assert (direct.status_code, direct.data, direct.headers["etag"]) == (304, b"", etag)
    assert way.passed(1)
    assert way.get(**{"If-None-Match": '"other"'}).status_code == 200


def test_a_change_is_seen_at_once(way: Way, services: Services) -> None:
    before = way.get()
    with services.database.transaction() as session:
        session.query(System).one().description = "Said later."
    after = way.get()
    assert after.json()["rows"][0]["description"] == "Said later."
    assert after.headers["etag"] != before.headers["etag"]
    second = submit(services, 1, [{**GOOD[0], "answer": "Bergen"}, *GOOD[1:]], publish=True)
    Worker(services).run_until_idle()
    assert way.get().json()["rows"][0]["submission"] == second.id
    services.intake.withdraw(second.id, None)
    assert way.get().json()["rows"][0]["version"] == 1


def test_what_only_the_clock_changes_is_seen_soon(
    way: Way, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    lifted = utc_now() + timedelta(days=1)
    with services.database.transaction() as session:
        team = session.query(Team).filter_by(name="team").one()
        team.alias, team.alias_until = "nobody", lifted
    soon = Way(services, seconds=0.2)
    assert b'"nobody"' in soon.get().content
    monkeypatch.setattr("leaderboard.entries.utc_now", lambda: lifted + timedelta(seconds=1))
    wait_until(lambda: b'"nobody"' not in soon.get().content, 30, "showing the name again")


@pytest.mark.parametrize(
    ("address", "status"),
    [
        (f"{PATH}?benchmark=none", 404),
        (PATH, 400),
        (f"{BOARD}&rank_by=nothing", 400),
        (f"{BOARD}&benchmark=small", 200),
        (f"{BOARD}&else=1", 200),
        (f"{BOARD}&%ff", 200),
    ],
)
def test_whatever_is_unusual_is_left_to_flask(way: Way, address: str, status: int) -> None:
    way.get()
    assert way.get(address).status_code == status
    assert way.passed(2)


def test_tokens_are_looked_at(way: Way, services: Services) -> None:
    way.get()
    assert way.get(Authorization="Bearer wrong").status_code == 401
    assert way.get(**bearer(services)).status_code == 200


def test_both_ways_are_measured_and_logged(settings: Settings, way: Way, caplog: pytest.LogCaptureFixture) -> None:
    services = build(dataclasses.replace(settings, metrics_token="m"))
    seen = Way(services)
    with caplog.at_level("INFO", "aqa.web"):
        assert [seen.get().status_code for _ in range(3)] == [200] * 3
    assert len([record for record in caplog.records if record.message.startswith(f"GET {PATH} 200 in")]) == 3
    told = seen.flask.test_client().get("/metrics", headers={"Authorization": "Bearer m"}).text
    assert f'aqa_request_seconds_count{{method="GET",route="{PATH}",status="200"}} 3.0' in told
    services.database.engine.dispose()


def test_both_ways_count_together(settings: Settings, way: Way) -> None:
    services = build(dataclasses.replace(settings, rate_limit="3 per hour"))
    few = Way(services)
    told = [few.get() for _ in range(5)]
    assert [answer.status_code for answer in told] == [200, 200, 200, 429, 429]
    assert told[3].json()["error"]["code"] == "too_many_requests"
    assert few.flask.test_client().get(BOARD).status_code == 429
    services.database.engine.dispose()


def test_a_database_that_is_away_is_said(way: Way, services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    way.get()
    gone = Database("postgresql://postgres@127.0.0.1:1/none")
    monkeypatch.setattr(services.database, "engine", gone.engine)
    for part in (services.board_json, services.board_json._boards):
        monkeypatch.setattr(part, "_changes", Changes(gone))
    answer = way.get()
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")


def test_a_mark_tells_of_commits_alone(database: Database) -> None:
    changes = Changes(database)
    mark = changes.mark()
    with database.reading() as session:
        assert session.query(Team).all() == []
    if database.is_sqlite:  # on a shared server other databases' commits are seen too
        assert changes.mark() == mark
    with pytest.raises(ZeroDivisionError), database.transaction() as session:
        session.add(Team(name="undone"))
        1 / 0  # noqa: B018
    with database.transaction() as session:
        session.add(Team(name="done"))
    assert changes.mark() != mark


def test_marks_are_equal_while_nothing_happens(database: Database) -> None:
    changes = Changes(database)
    for _ in range(200):  # another test may commit in between on the same server
        if changes.mark() == changes.mark():
            return
    pytest.fail("no two marks were equal")


def test_without_a_database_no_mark_is_equal() -> None:
    for url in ("sqlite://", "postgresql://postgres@127.0.0.1:1/none"):
        changes = Changes(Database(url))
        assert changes.mark() != changes.mark()
