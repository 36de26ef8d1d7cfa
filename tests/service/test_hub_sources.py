"""References to the Hub and the inbox there: pinned, told apart, patient, nothing twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from core.errors import Forbidden, InvalidInput, NotFound, TooLarge, Unavailable
from core.settings import Settings
from core.tables import InboxFile, Job, Submission, SubmissionSource
from core.tables.base import utc_now
from server import auth
from server.bootstrap import Services, build
from server.exchange.jobs import POLL, Periodic
from server.exchange.wiring import inbox
from server.worker import Worker
from submissions.sources.fetch import fetch
from submissions.sources.hub import Hub as Source
from submissions.sources.inbox import Inbox, Outcome, link
from submissions.sources.reference import Reference, parse
from tests.command_line import runner
from tests.fake_hub import FakeHub, FakePullRequest, FakeRepo, serving
from tests.hub_server import SYSTEM_YAML, Hub
from tests.small_benchmark import GOOD, add_benchmark, add_team, jsonl

FILE = "sys/predictions.jsonl"


@pytest.fixture
def fake(quiet_client: None) -> Iterator[FakeHub]:
    """A small Hub on a real socket."""
    with serving(FakeHub()) as hub:
        yield hub


@pytest.fixture
def pauses() -> list[float]:
    """Seconds that a source would have waited."""
    return []


@pytest.fixture
def source(fake: FakeHub, pauses: list[float]) -> Source:
    """That Hub as a source without a token, whose pauses take no time."""
    return Source(fake.url, pause=pauses.append)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hf://datasets/a/b/c.csv", Reference("a/b", "c.csv", "main")),
        ("hf://datasets/a/b/c/d.jsonl.gz@v1.0", Reference("a/b", "c/d.jsonl.gz", "v1.0")),
        ("hf://datasets/a/b@refs%2Fpr%2F3/c.csv", Reference("a/b", "c.csv", "refs/pr/3")),
        ("hf://datasets/a/b@abc/c@d.csv", Reference("a/b", "c@d.csv", "abc")),
    ],
)
def test_references_are_read(text: str, expected: Reference) -> None:
    assert parse(text) == expected
    assert parse(str(expected)) == expected


@pytest.mark.parametrize(
    "text",
    ["https://huggingface.co/datasets/a/b/c.csv", "hf://a/b/c.csv", "hf://models/a/b/c.csv", "hf://datasets/a/b",
     "hf://datasets/a/b/../../c.csv", "hf://datasets/../b/c.csv", "hf://datasets/a/b/", "hf://datasets/a/b/c@../x",
     "hf://datasets/a/b@/c@", "hf://datasets/a:80@evil/b/c", "hf://", ""],
)  # fmt: skip
def test_other_texts_are_refused(text: str) -> None:
    if text == "hf://datasets/a/b@/c@":
        assert parse(text).revision == "main"
        return
    with pytest.raises(InvalidInput):
        parse(text)


def test_a_reference_is_pinned_to_a_commit(fake: FakeHub, source: Source) -> None:
    repo = fake.dataset("a/b", files={"x/p.csv": b"first"})
    fetched = fetch(source, "hf://datasets/a/b/x/p.csv@main", 100)
    commit = repo.at("main")[0]
    assert (fetched.data, fetched.name, fetched.reference) == (b"first", "p.csv", Reference("a/b", "x/p.csv", commit))
    read = [path for method, path in fake.asked if "resolve" in path]
    assert read
    assert all(f"/resolve/{commit}/" in path for path in read), "what is read is the pinned commit"
    assert fake.tokens == set(), "no token is sent that the service was not given"


def test_missing_gated_and_private_are_told_apart(fake: FakeHub, source: Source) -> None:
    fake.dataset("a/gated", files={"p.csv": b"x"}, gated=True)
    fake.dataset("a/private", files={"p.csv": b"x"}, private=True)
    fake.dataset("a/open", files={"p.csv": b"x" * 100})
    for text, kind, says in (
        ("a/gated/p.csv", Forbidden, "gated"),
        ("a/private/p.csv", NotFound, "or it is private"),
        ("a/none/p.csv", NotFound, "no dataset a/none"),
        ("a/open/none.csv", NotFound, "no file none.csv"),
        ("a/open/p.csv@none", NotFound, "no revision 'none'"),
        ("a/open/p.csv", TooLarge, "limit"),
    ):
        with pytest.raises(kind, match=says):
            fetch(source, f"hf://datasets/{text}", 99)
    assert not [path for _, path in fake.asked if path.endswith("/open/resolve/main/p.csv")]
    trusted = Source(fake.url, fake.token)
    assert fetch(trusted, "hf://datasets/a/gated/p.csv", 99).data == b"x"


@pytest.mark.parametrize("call", ["info", "download"])
def test_429_is_waited_out(
    fake: FakeHub, source: Source, pauses: list[float], call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", pauses.append)
    fake.dataset("a/b", files={"p.csv": b"x"})
    commit = source.commit_of("a/b")
    fake.busy = 3
    if call == "info":
        assert source.commit_of("a/b") == commit
        assert pauses == [7.0, 7.0, 8.0], "as long as the Hub asks, and longer each time"
    else:
        assert source.read(Reference("a/b", "p.csv", commit), 99) == b"x"
        assert len(pauses) == 3


def test_patience_ends(fake: FakeHub, source: Source, pauses: list[float]) -> None:
    fake.dataset("a/b", files={"p.csv": b"x"})
    fake.busy = 99
    with pytest.raises(Unavailable, match="patience"):
        source.commit_of("a/b")
    assert len(pauses) == 4
    fake.busy, fake.broken = 0, 99
    with pytest.raises(Unavailable, match="does not answer"):
        source.commit_of("a/b")
    away = Source("http://127.0.0.1:9", pause=pauses.append)
    with pytest.raises(Unavailable, match="does not answer"):
        away.commit_of("a/b")


def test_our_own_endpoint_serves_references(hub: Hub, tmp_path: Path) -> None:
    api = hub.api()
    first = hub.push(api, "one/sys")
    source = Source(hub.endpoint, str(api.token))
    fetched = fetch(source, "hf://datasets/one/sys/predictions.jsonl", 10_000)
    assert (fetched.data, fetched.reference.revision) == (jsonl(GOOD), first)
    with pytest.raises(NotFound, match="or it is private"):
        fetch(Source(hub.endpoint), "hf://datasets/one/sys/predictions.jsonl", 10_000)


def test_submit_takes_a_reference(
    fake: FakeHub, sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(data_dir=str(tmp_path / "data"), database_url=sqlite_url, bootstrap_resamples=499)
    services = build(settings)
    add_benchmark(services, tmp_path / "files")
    add_team(services, "one")
    repo = fake.dataset("a/b", files={"runs/p.jsonl": jsonl(GOOD)})
    monkeypatch.setenv("AQA_HUB_ENDPOINT", fake.url)
    aqa = runner(settings, monkeypatch, capsys)
    options = ("--benchmark", "small", "--system", "S", "--team", "one", "--json")
    ended = aqa("submit", "hf://datasets/a/b/runs/p.jsonl", *options, "--wait")
    assert ended.code == 0, ended.err
    assert ended.json["state"] == "scored"
    with services.database.reading() as session:
        assert session.get_one(Submission, ended.json["id"]).file_name == "p.jsonl"
        kept = session.get_one(SubmissionSource, ended.json["id"]).reference
    assert kept == f"hf://datasets/a/b/runs/p.jsonl@{repo.at('main')[0]}"
    missing = aqa("submit", "hf://datasets/a/none/p.jsonl", *options)
    assert (missing.code, "no dataset a/none" in missing.err) == (2, True)


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
