"""The inbox on the Hub: each file once, pull requests of linked users only, nothing lost when the Hub gives up."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from core.errors import Unavailable
from core.tables import InboxFile, Job, Submission, SubmissionSource
from core.tables.base import utc_now
from server import auth
from server.bootstrap import Services
from server.exchange.jobs import POLL, Periodic
from server.exchange.wiring import inbox
from server.worker import Worker
from submissions.sources.hub import Hub as Source
from submissions.sources.inbox import Inbox, Outcome, link
from submissions.sources.reference import Reference
from tests.fake_hub import FakeHub, FakePullRequest, FakeRepo
from tests.hub_server import SYSTEM_YAML
from tests.small_benchmark import GOOD, add_benchmark, add_team, jsonl

FILE = "sys/predictions.jsonl"


@pytest.fixture
def box(fake: FakeHub) -> FakeRepo:
    """The inbox's repository."""
    return fake.dataset("house/inbox", files={"README.md": b"# Inbox\n"})


@pytest.fixture
def wired(services: Services, fake: FakeHub, tmp_path: Path) -> Services:
    """Services whose settings name the inbox, with the teams `one` and `two`."""
    add_benchmark(services, tmp_path / "files")
    for team in ("one", "two"):
        add_team(services, team)
    changed = {"hub_endpoint": fake.url, "hub_token": fake.token, "inbox_repo": "house/inbox"}
    services.settings = replace(services.settings, **changed)
    return services


def add(files: dict[str, bytes], team: str, data: bytes | None = None, system: bytes = SYSTEM_YAML) -> None:
    """Put predictions of a team into files."""
    files |= {f"{team}/{FILE}": jsonl(GOOD) if data is None else data, f"{team}/sys/system.yaml": system}


def states(outcomes: list[Outcome]) -> list[tuple[str, int | None, str]]:
    """What became of which file."""
    return [(each.path, each.pull_request, each.state) for each in outcomes]


def submissions(services: Services) -> list[tuple[str, str, int]]:
    """Team, system and version of all submissions."""
    with services.database.reading() as session:
        rows = session.scalars(select(Submission).order_by(Submission.created_at))
        return [(row.system.team.name, row.system.name, row.version) for row in rows]


def test_the_inbox_takes_each_file_once(wired: Services, box: FakeRepo) -> None:
    add(box.files, "one")
    assert states(inbox(wired).poll()) == [(f"one/{FILE}", None, "taken")]
    assert inbox(wired).poll() == []
    box.files["other.txt"] = b"a new commit"
    assert inbox(wired).poll() == [], "the same content at a later commit"
    add(box.files, "one", jsonl(GOOD[:4]))
    add(box.files, "two")
    assert states(inbox(wired).poll()) == [(f"one/{FILE}", None, "taken"), (f"two/{FILE}", None, "taken")]
    assert submissions(wired) == [("one", "sys", 1), ("one", "sys", 2), ("two", "sys", 1)]
    with wired.database.reading() as session:
        kept = session.scalars(select(SubmissionSource.reference)).all()
    assert all(each.startswith("hf://datasets/house/inbox/") for each in kept)


def test_pull_requests_count_for_linked_users_only(wired: Services, box: FakeRepo) -> None:
    request = FakePullRequest("ann", {})
    add(request.files, "one")
    box.pull_requests[4] = request
    closed = FakePullRequest("ann", {}, status="closed")
    add(closed.files, "two")
    box.pull_requests[5] = closed
    first = inbox(wired).poll()
    assert states(first) == [(f"one/{FILE}", 4, "waiting")]
    assert "'ann' is not known" in str(first[0].reason)
    with wired.database.transaction() as session:
        link(session, "ann", auth.find_team(session, "two"))
    assert states(inbox(wired).poll()) == [(f"one/{FILE}", 4, "waiting")], "another team's user"
    with wired.database.transaction() as session:
        link(session, "ann", auth.find_team(session, "one"))
    taken = inbox(wired).poll()
    assert states(taken) == [(f"one/{FILE}", 4, "taken")]
    assert request.comments == [f"`one/{FILE}` was taken as submission `{taken[0].submission}`."]
    box.files |= request.files
    request.status = "merged"
    assert inbox(wired).poll() == [], "merging brings nothing new"
    assert submissions(wired) == [("one", "sys", 1)]


def test_refusals_are_remembered_and_answered(wired: Services, box: FakeRepo) -> None:
    with wired.database.transaction() as session:
        link(session, "ann", auth.find_team(session, "one"))
    request = FakePullRequest("ann", {})
    add(request.files, "one", b"not a table")
    box.pull_requests[1] = request
    add(box.files, "two", system=b"benchmark: none\n")
    add(box.files, "nobody")
    box.files["two/other/predictions.csv"] = b"without metadata"
    found = inbox(wired).poll()
    assert states(found) == [
        (f"nobody/{FILE}", None, "waiting"),
        (f"two/{FILE}", None, "refused"),
        (f"one/{FILE}", 1, "refused"),
    ]
    assert "No team" in str(found[0].reason)
    assert request.comments[0].startswith(f"`one/{FILE}` was refused: ")
    assert states(inbox(wired).poll()) == [(f"nobody/{FILE}", None, "waiting")]
    assert len(request.comments) == 1
    add(box.files, "two")
    assert (f"two/{FILE}", None, "taken") in states(inbox(wired).poll()), "mended metadata is looked at again"


def test_a_hub_that_gives_up_in_the_middle_loses_nothing(wired: Services, box: FakeRepo, fake: FakeHub) -> None:
    add(box.files, "one")
    add(box.files, "two")
    source = Source(fake.url, fake.token, pause=lambda _seconds: None)
    watched = Inbox(wired.intake, source, "house/inbox", 10**6)
    real = source.read
    reads = []

    def read(reference: Reference, limit: int) -> bytes:
        reads.append(reference)
        if len(reads) == 3:
            fake.busy = 5
        return real(reference, limit)

    source.read = read  # type: ignore[method-assign]
    with pytest.raises(Unavailable):
        watched.poll()
    assert submissions(wired) == [("one", "sys", 1)]
    assert states(watched.poll()) == [(f"two/{FILE}", None, "taken")]


def test_over_quota_waits(wired: Services, box: FakeRepo) -> None:
    wired.intake.settings = replace(wired.settings, submissions_per_day=1)
    add(box.files, "one")
    assert [each.state for each in inbox(wired).poll()] == ["taken"]
    add(box.files, "one", jsonl(GOOD[:4]))
    assert [each.state for each in inbox(wired).poll()] == ["waiting"]
    wired.intake.settings = wired.settings
    assert [each.state for each in inbox(wired).poll()] == ["taken"]


def test_two_pollers_at_once_take_a_file_once(wired: Services, box: FakeRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    add(box.files, "one")
    monkeypatch.setattr(Inbox, "_decided", lambda *_: False)
    assert [each.state for each in inbox(wired).poll()] == ["taken"]
    box.files["one/sys/predictions.jsonl"] = jsonl(GOOD)
    with wired.database.transaction() as session:
        session.execute(update(Submission).values(withdrawn_at=utc_now()))
    assert [each.state for each in inbox(wired).poll()] == ["waiting"], "the database itself holds it"
    assert len(submissions(wired)) == 1


def test_workers_poll_when_it_is_due(wired: Services, box: FakeRepo) -> None:
    add(box.files, "one")
    Periodic(wired).tick()
    Periodic(wired).tick()
    with wired.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Job).where(Job.kind == POLL)) == 1
    Worker(wired).run_until_idle()
    assert submissions(wired) == [("one", "sys", 1)]
    Periodic(wired).tick()
    with wired.database.transaction() as session:
        assert session.scalar(select(func.count()).select_from(Job).where(Job.kind == POLL)) == 1
        session.execute(update(Job).values(created_at=utc_now() - timedelta(seconds=301)))
    Periodic(wired).tick()
    with wired.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Job).where(Job.kind == POLL)) == 2
    with wired.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(InboxFile)) == 1
