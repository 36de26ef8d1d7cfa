"""Boards on the Hub: few commits, nothing sent twice, snapshots that stay, entries that leave."""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime, timedelta

import httpx
import pyarrow.parquet as pq
import pytest
from sqlalchemy import select

from core.errors import InvalidInput
from core.tables import BoardSnapshot, HubAccount, Job, Team
from leaderboard import board, exports, snapshots
from server.exchange.jobs import PUBLISH, Periodic
from server.exchange.publishing import Published, publish_boards
from submissions.sources.hub import Hub as Source
from tests.command_line import runner
from tests.fake_hub import FakeHub, serving
from tests.hub_server import Hub
from tests.small_benchmark import GOOD, add_team, submit

REPO = "house/boards"
DAY = date(2024, 5, 1)


@pytest.fixture
def target(hub: Hub) -> Source:
    """Our own endpoint as the Hub that is published to; two published entries and a private one stand here."""
    one, two = add_team(hub.services, "one"), add_team(hub.services, "two")
    submit(hub.services, one, system="A", publish=True)
    submit(hub.services, two, GOOD[:4], system="B", publish=True)
    submit(hub.services, two, GOOD[:3], system="hidden")
    hub.work()
    return Source(hub.endpoint, str(hub.api("house").token))


def files(target: Source) -> list[str]:
    """What stands in the repository."""
    return sorted(target.api.list_repo_files(REPO, repo_type="dataset"))


def test_boards_and_scored_outputs_are_published(hub: Hub, target: Source) -> None:
    done = publish_boards(hub.services, target, REPO, DAY)
    assert (len(done.commits), done.written, done.removed) == (1, 1 + 2 * 3 + 3 + 1, 0)
    with hub.services.database.reading() as session:
        found = board.rows(session, "small")
    ids = [row.entry.submission for row in found.rows]
    api = target.api
    for kind in exports.KINDS:
        assert hub.fetch(api, REPO, f"small/leaderboard.{kind}") == exports.export(found, kind)[0]
    assert json.loads(hub.fetch(api, REPO, "small/snapshots/2024-05-01.json")) == json.loads(
        exports.export(found, "json")[0]
    )
    entries = {path.split("/")[2] for path in files(target) if "/submissions/" in path}
    assert entries == set(ids), "private entries stay here"
    table = pq.read_table(io.BytesIO(hub.fetch(api, REPO, f"small/submissions/{ids[0]}/examples.parquet")))
    assert table.num_rows == 5
    assert {"scores.json", "manifest.json"} < {path.rsplit("/", 1)[-1] for path in files(target)}


def test_only_what_changed_is_sent_and_snapshots_stay(hub: Hub, target: Source) -> None:
    publish_boards(hub.services, target, REPO, DAY)
    assert publish_boards(hub.services, target, REPO, DAY) == Published((), 0, 0)
    before = hub.fetch(target.api, REPO, "small/snapshots/2024-05-01.json")
    with hub.services.database.reading() as session:
        leaving = board.rows(session, "small").rows[0].entry.submission
    hub.services.intake.withdraw(leaving, None)
    same_day = publish_boards(hub.services, target, REPO, DAY)
    assert (same_day.written, same_day.removed, len(same_day.commits)) == (3, 3, 1), "three forms of the board"
    assert not [path for path in files(target) if leaving in path]
    assert hub.fetch(target.api, REPO, "small/snapshots/2024-05-01.json") == before
    next_day = publish_boards(hub.services, target, REPO, DAY + timedelta(days=1))
    assert (next_day.written, next_day.removed) == (1, 0)
    assert "small/snapshots/2024-05-02.json" in files(target)


def given_out(hub: Hub, snapshot: BoardSnapshot) -> bytes:
    """A snapshot as the API gives it out."""
    answer = httpx.get(f"{hub.endpoint.removesuffix('/hub')}/api/v1/leaderboard/snapshots/{snapshot.id}")
    assert answer.status_code == 200, answer.text
    return answer.content


def test_the_dated_board_is_a_stored_snapshot(hub: Hub, target: Source) -> None:
    services = hub.services
    publish_boards(services, target, REPO, DAY)
    with services.database.reading() as session:
        (taken,) = session.scalars(select(BoardSnapshot))  # it was taken for the purpose
    assert hub.fetch(target.api, REPO, "small/snapshots/2024-05-01.json") == given_out(hub, taken)
    publish_boards(services, target, REPO, DAY + timedelta(days=1))
    with services.database.transaction() as session:
        assert len(session.scalars(select(BoardSnapshot)).all()) == 1, (
            "nothing changed: the day before's stands for both"
        )
        session.get_one(BoardSnapshot, taken.id).taken_at = datetime(2024, 5, 3, 8, tzinfo=UTC)
    with services.database.reading() as session:
        leaving = board.rows(session, "small").rows[0].entry.submission
    services.intake.withdraw(leaving, None)
    with services.database.transaction() as session:
        later = snapshots.take(session, "small")
        assert later is not None
        later.taken_at = datetime(2024, 5, 3, 20, tzinfo=UTC)
    publish_boards(services, target, REPO, date(2024, 5, 3))
    third = hub.fetch(target.api, REPO, "small/snapshots/2024-05-03.json")
    assert third == given_out(hub, taken) != given_out(hub, later), "the first of that day, not the board of now"
    publish_boards(services, target, REPO, date(2024, 5, 4))
    assert hub.fetch(target.api, REPO, "small/snapshots/2024-05-04.json") == given_out(hub, later)


def test_a_board_that_was_always_empty_has_no_dated_one(hub: Hub) -> None:
    target = Source(hub.endpoint, str(hub.api("house").token))
    publish_boards(hub.services, target, REPO, DAY)
    assert "small/leaderboard.json" in files(target)
    assert not [path for path in files(target) if "/snapshots/" in path]


def test_many_files_go_in_batches(hub: Hub, target: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.exchange.publishing._MOST_FILES", 4)
    done = publish_boards(hub.services, target, REPO, DAY)
    assert (done.written, len(done.commits)) == (11, 3)
    assert len(files(target)) == 11


def test_a_repository_must_be_named(hub: Hub, target: Source) -> None:
    with pytest.raises(InvalidInput, match="which repository"):
        publish_boards(hub.services, target, "", DAY)


def test_workers_publish_when_it_is_due(hub: Hub, target: Source) -> None:
    settings = hub.services.settings
    for name, value in {"hub_endpoint": hub.endpoint, "hub_token": target.token, "publish_repo": REPO}.items():
        object.__setattr__(settings, name, value)
    Periodic(hub.services).tick()
    hub.work()
    with hub.services.database.reading() as session:
        (job,) = session.scalars(select(Job).where(Job.kind == PUBLISH))
    assert (job.state, job.subject) == ("done", REPO)
    assert "small/leaderboard.json" in files(target)


def test_the_commands(
    hub: Hub, target: Source, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    aqa = runner(hub.services.settings, monkeypatch, capsys)
    monkeypatch.setenv("AQA_HUB_ENDPOINT", hub.endpoint)
    monkeypatch.setenv("AQA_HUB_TOKEN", target.token)
    done = aqa("hub", "publish", "--repo", REPO, "--json")
    assert (done.code, done.json["written"]) == (0, 11), done.err
    assert "0 files written" in aqa("hub", "publish", "--repo", REPO).out
    nowhere = aqa("hub", "poll")
    assert (nowhere.code, "AQA_INBOX_REPO" in nowhere.err) == (2, True)
    linked = aqa("hub", "link", "ann", "one")
    assert (linked.code, "ann" in linked.out) == (0, True), linked.err
    with hub.services.database.reading() as session:
        assert session.get_one(Team, session.get_one(HubAccount, "ann").team_id).name == "one"
    assert aqa("hub", "link", "ann", "nobody").code == 2
    with serving(FakeHub()) as fake:
        box = fake.dataset("house/inbox", files={"one/sys/system.yaml": b"benchmark: small\n"})
        box.files["one/sys/predictions.jsonl"] = b"nothing"
        monkeypatch.setenv("AQA_HUB_ENDPOINT", fake.url)
        monkeypatch.setenv("AQA_INBOX_REPO", "house/inbox")
        polled = aqa("hub", "poll", "--json")
        assert [each["state"] for each in polled.json] == ["refused"], polled.err
        assert "Nothing new" in aqa("hub", "poll").out
        box.files["two/sys/system.yaml"] = b"benchmark: small\n"
        box.files["two/sys/predictions.jsonl"] = b"nothing"
        assert "refused" in aqa("hub", "poll").out
