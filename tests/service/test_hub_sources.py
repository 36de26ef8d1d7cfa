"""References to files on the Hub: pinned to a commit, errors told apart, patience with 429."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import Forbidden, InvalidInput, NotFound, TooLarge, Unavailable
from core.settings import Settings
from core.tables import Submission, SubmissionSource
from server.bootstrap import build
from submissions.sources.fetch import fetch
from submissions.sources.hub import Hub as Source
from submissions.sources.reference import Reference, parse
from tests.command_line import runner
from tests.fake_hub import FakeHub
from tests.hub_server import Hub
from tests.small_benchmark import GOOD, add_benchmark, add_team, jsonl


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
def test_429_is_waited_out(fake: FakeHub, source: Source, pauses: list[float], call: str) -> None:
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
    settings = Settings(
        judge="token-overlap", data_dir=str(tmp_path / "data"), database_url=sqlite_url, bootstrap_resamples=499
    )
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
