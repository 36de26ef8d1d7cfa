"""What a broken machine or a clumsy user does to `aqa`: one clear error each time, and nothing half-done."""

from __future__ import annotations

import errno
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from core.blobs import LocalBlobs
from core.settings import Settings
from server.bootstrap import Services
from server.cli.faults import explained
from tests.command_line import Aqa, runner
from tests.small_benchmark import GOOD, add_benchmark, add_team, jsonl


@pytest.fixture
def aqa(settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Aqa:
    return runner(settings, monkeypatch, capsys)


@pytest.fixture
def good(services: Services, tmp_path: Path) -> Path:
    add_benchmark(services, tmp_path / "files")
    path = tmp_path / "good.jsonl"
    path.write_bytes(jsonl(GOOD))
    return path


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_names_in_brackets_are_no_markup(aqa: Aqa, services: Services) -> None:
    for name in ("[/bold]x[red]", "[link=https://x]y"):
        assert aqa("team", "add", name).code == 0
        assert name in aqa("team", "list").out
        assert aqa("token", "new", "--team", name, "--label", "[/]").code == 0
    listed = aqa("token", "list")
    assert (listed.code, listed.out.count("[/]")) == (0, 2)


def test_a_full_disk_is_one_clear_error(
    aqa: Aqa, good: Path, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_team(services, "team")

    def full(_self: LocalBlobs, _stream: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(LocalBlobs, "put", full)
    ended = aqa("submit", good, "--benchmark", "small", "--system", "s", "--team", "team")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("Error: No space left on device.")
    assert "Make room" in ended.err


def test_faults_of_the_machine_are_explained_and_ours_are_not() -> None:
    full = explained(OperationalError("COMMIT", {}, Exception("database or disk is full")))
    assert full is not None
    assert full.message == "The database failed: database or disk is full."
    assert explained(OverflowError("Python int too large to convert to SQLite INTEGER")) is not None
    assert explained(KeyError("ours")) is None
    assert explained(ConnectionResetError(errno.ECONNRESET, "reset")) is None


def test_numbers_past_the_database_are_refused(aqa: Aqa, services: Services) -> None:
    ended = aqa("ratings", "revoke", "9" * 30)
    assert ended.code == 2
    assert "Traceback" not in ended.err


def test_a_file_that_is_no_database(aqa: Aqa, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.sqlite"
    broken.write_text("garbage" * 1_000)
    monkeypatch.setenv("AQA_DATABASE_URL", f"sqlite:///{broken}")
    ended = aqa("benchmark", "list")
    assert (ended.code, ended.out) == (1, "")
    assert "not a database" in ended.err
    assert str(broken) in ended.err


@pytest.mark.parametrize("url", ["foo://x", "mysql://u@h/d", "postgresql+nothing://u@h/d"])
def test_databases_that_are_not_supported(aqa: Aqa, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("AQA_DATABASE_URL", url)
    ended = aqa("benchmark", "list")
    assert ended.code in (1, 2)
    assert ended.err.startswith("Error: ")


def test_a_damaged_corpus_is_named_and_mended_by_adding_again(
    aqa: Aqa, good: Path, services: Services, settings: Settings, tmp_path: Path
) -> None:
    [corpus] = (Path(settings.data_dir) / "corpora").glob("*.sqlite")
    whole = corpus.read_bytes()
    score = ("score", good, "--benchmark", "small", "--judge", "token-overlap", "--out", tmp_path / "out")
    for damage in (b"garbage" * 1_000, b"", whole[:4096] + b"\xff" * (len(whole) - 4096)):
        corpus.write_bytes(damage)
        ended = aqa(*score)
        assert ended.code == 1
        assert f"The corpus file {corpus.name} is damaged" in " ".join(ended.err.split())
    add_benchmark(services, tmp_path / "files")
    assert aqa(*score).code == 0


@pytest.mark.parametrize("command", ["serve", "demo"])
def test_a_taken_port_is_told_before_anything_is_done(aqa: Aqa, settings: Settings, taken: int, command: str) -> None:
    ended = aqa(command, "--port", taken)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"Error: 127.0.0.1:{taken} cannot be listened on: Address already in use")
    assert not (Path(settings.data_dir) / "corpora").exists()


def test_a_judge_that_does_not_exist_stops_the_service_not_its_jobs(
    aqa: Aqa, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AQA_JUDGE", "nonsense")
    for command in (("serve",), ("worker", "--until-idle")):
        ended = aqa(*command)
        assert ended.code == 2
        assert "there is no judge 'nonsense'" in ended.err


@pytest.mark.parametrize("name", ["AQA_RATE_LIMIT", "AQA_RATE_LIMIT_SIGN_IN"])
def test_a_limit_that_cannot_be_read_stops_the_service(aqa: Aqa, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "often")
    ended = aqa("serve")
    assert ended.code == 2
    assert f"{name}='often' is not a rate" in ended.err


def test_a_folder_that_cannot_be_made(aqa: Aqa, good: Path) -> None:
    ended = aqa("score", good, "--benchmark", "small", "--judge", "token-overlap", "--out", "/proc/nothing")
    assert ended.code == 1
    assert ended.err.startswith("Error: No such file or directory: /proc/nothing")


def test_two_that_start_at_once_on_a_new_file_both_get_a_database(tmp_path: Path) -> None:
    code = "import sys; from core.database import Database; d = Database(sys.argv[1]); d.upgrade(); print(d.revision())"
    url = f"sqlite:///{tmp_path / 'new.sqlite'}"
    both = [
        subprocess.Popen([sys.executable, "-c", code, url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert said[0][0] == said[1][0] != "None\n"


BAD_BENCHMARKS = {
    "a rated file that is not UTF-8": ("rated.txt", b"\xff\xfe\xff", "is not UTF-8"),
    "a corpus that is not gzip": ("corpus.jsonl.gz", b"not gzip", "cannot be unpacked"),
    "a corpus that is not a zip": ("corpus.zip", b"not a zip", "cannot be unpacked"),
    "NUL in a passage's id": (
        "corpus.jsonl", '{"id": "a\\u0000", "contents": "« T » « T » x"}'.encode(), "not a JSON object"
    ),
    "NUL in a question": ("questions.jsonl", b'{"question": "a\\u0000b", "answer": ["x"]}', "NUL"),
    "NUL in an answer": ("questions.jsonl", b'{"question": "a", "answer": ["x\\u0000"]}', "NUL"),
    "blank references alone": ("questions.jsonl", b'{"question": "a", "answer": [" "]}', "at least one text"),
    "a long id": ("questions.jsonl", b'{"question": "a", "answer": ["x"], "id": "%s"}' % (b"i" * 201), "200"),
    "a long type": ("questions.jsonl", b'{"question": "a", "answer": ["x"], "type": "%s"}' % (b"t" * 41), "40"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_BENCHMARKS)
def test_bad_files_of_a_benchmark_are_refused_whole(aqa: Aqa, services: Services, tmp_path: Path, kind: str) -> None:
    questions, corpus = tmp_path / "q.jsonl", tmp_path / "c.jsonl"
    questions.write_text('{"question": "q", "answer": ["x"]}\n')
    corpus.write_text('{"id": "a", "contents": "« T » « T » x"}\n')
    name, content, told = BAD_BENCHMARKS[kind]
    bad = tmp_path / name
    bad.write_bytes(content)
    option = "--questions" if name.startswith("questions") else "--corpus" if name.startswith("corpus") else "--rated"
    files = {"--questions": questions, "--corpus": corpus} | {option: bad}
    ended = aqa("benchmark", "add", "--id", "bad", *(part for pair in files.items() for part in pair))
    assert ended.code == 3
    assert told in " ".join(ended.err.split())
    assert services.benchmarks.all() == []
