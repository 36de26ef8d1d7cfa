"""`aqa db`, `benchmark`, `team`, `token`, `worker`: what they print, store and refuse, on both databases."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.database import Database
from core.settings import Settings
from server.bootstrap import Services
from tests.command_line import Aqa, runner
from tests.small_benchmark import PASSAGES, add_benchmark, add_team, submit


@pytest.fixture
def aqa(settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Aqa:
    return runner(settings, monkeypatch, capsys)


@pytest.fixture
def files(services: Services, tmp_path: Path) -> Path:
    add_benchmark(services, tmp_path / "files")
    return tmp_path / "files"


def test_add_list_show(aqa: Aqa, files: Path) -> None:
    added = aqa(
        "benchmark", "add", "--id", "second", "--questions", files / "questions.jsonl",
        "--corpus", files / "corpus.jsonl", "--rated", files / "rated.txt", "--raters-per-item", 3,
        "--title", "The [second]", "--synthetic",
    )  # fmt: skip
    assert added.code == 0, added.err
    assert "The [second] (synthetic ratings)" in added.out
    rows = aqa("benchmark", "list", "--json").json
    assert [row["id"] for row in rows] == ["small", "second"]
    shown = aqa("benchmark", "show", "second", "--json").json
    assert shown == rows[1]
    assert (shown["questions"], shown["rated"], shown["passages"]) == (5, 4, len(PASSAGES))
    assert (shown["raters_per_item"], shown["synthetic_ratings"]) == (3, True)
    assert shown["corpus_digest"] in aqa("benchmark", "show", "second").out
    assert "second" in aqa("benchmark", "list").out


def test_the_same_again_is_fine_and_other_content_is_a_conflict(aqa: Aqa, files: Path) -> None:
    same = (
        "benchmark",
        "add",
        "--id",
        "small",
        "--questions",
        files / "questions.jsonl",
        "--rated",
        files / "rated.txt",
    )
    assert aqa(*same, "--corpus", files / "corpus.jsonl").code == 0
    changed = aqa(*same, "--corpus", files / "corpus.jsonl", "--raters-per-item", 2)
    assert changed.code == 2
    assert "different content" in changed.err
    assert "Traceback" not in changed.err


def test_bad_benchmark_files(aqa: Aqa, files: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"question": "what", "answer": "not a list"}\nnot json\n')
    refused = aqa("benchmark", "add", "--id", "bad", "--questions", bad, "--corpus", files / "corpus.jsonl")
    assert refused.code == 3
    assert "row 1" in refused.err
    assert "row 2" in refused.err
    missing = aqa("benchmark", "add", "--id", "bad", "--questions", tmp_path / "no", "--corpus", files / "corpus.jsonl")
    assert missing.code == 2
    assert "There is no file" in missing.err
    assert aqa("benchmark", "add", "--id", "UPPER", "--questions", bad, "--corpus", bad).code == 2
    assert [row["id"] for row in aqa("benchmark", "list", "--json").json] == ["small"]
    assert not list((tmp_path / "data").rglob("building-*"))


def test_unknown_benchmark_and_usage(aqa: Aqa, files: Path) -> None:
    unknown = aqa("benchmark", "show", "nope")
    assert (unknown.code, unknown.out) == (2, "")
    assert "Benchmarks here: small." in unknown.err
    assert aqa("benchmark", "show").code == 2
    assert aqa("nonsense").code == 2
    assert aqa("benchmark", "download", "other").code == 2


def test_teams_and_tokens(aqa: Aqa, services: Services) -> None:
    from server import auth

    assert aqa("team", "add", "Team [A]").code == 0
    assert aqa("team", "add", "Team [A]").code == 2
    assert "Team [A]" in aqa("team", "list").out
    made = aqa("token", "new", "--team", "Team [A]", "--role", "maintainer", "--days", 3, "--json").json
    assert list(made) == ["token"]
    with services.database.reading() as session:
        identity = auth.verify(session, made["token"])
    assert (identity.team, identity.role) == ("Team [A]", "maintainer")
    plain = aqa("token", "new", "--team", "Team [A]")
    assert plain.out.strip().startswith("aqa_")
    assert "\n" not in plain.out.strip()
    assert aqa("token", "revoke", made["token"]).code == 0
    with services.database.reading() as session, pytest.raises(auth.NotSignedIn):
        auth.verify(session, made["token"])
    assert aqa("token", "new", "--team", "nobody").code == 2
    assert aqa("token", "new", "--team", "Team [A]", "--role", "king").code == 2


def test_worker_until_idle(aqa: Aqa, services: Services, files: Path) -> None:
    made = submit(services, add_team(services))
    ended = aqa("worker", "--until-idle")
    assert ended.code == 0
    assert "1 job done." in ended.out
    assert aqa("status", made.id, "--json").json["state"] == "scored"
    assert aqa("worker", "--until-idle", "--queue", "tpu").code == 2


def test_a_fresh_sqlite_file_is_migrated_by_the_first_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    aqa = runner(Settings(judge="token-overlap", data_dir=str(tmp_path / "fresh")), monkeypatch, capsys)
    assert aqa("benchmark", "list", "--json").json == []
    assert (tmp_path / "fresh" / "aqa.sqlite").is_file()


@pytest.mark.service
def test_an_empty_postgres_is_left_alone_until_it_is_upgraded(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    database = Database(postgres_url)
    with database.engine.begin() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA public")
    settings = Settings(judge="token-overlap", data_dir=str(tmp_path / "data"), database_url=postgres_url)
    aqa = runner(settings, monkeypatch, capsys)
    refused = aqa("benchmark", "list")
    assert refused.code == 1
    assert "aqa db upgrade" in refused.err
    assert database.revision() is None
    upgraded = aqa("db", "upgrade")
    assert upgraded.code == 0
    assert "went from empty" in upgraded.out
    assert aqa("benchmark", "list", "--json").json == []
    assert "is at" in aqa("db", "upgrade").out
    database.engine.dispose()


def test_help_is_quick_and_loads_nothing_heavy() -> None:
    code = (
        "import resource, sys\n"
        "from server.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "used = resource.getrusage(resource.RUSAGE_SELF).ru_utime\n"
        "heavy = {'torch', 'gradio', 'pandas', 'numpy', 'sqlalchemy', 'pyarrow', 'scipy', 'flask'} & set(sys.modules)\n"
        "print('RESULT', used, sorted(heavy))\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    _, used, heavy = ended.stdout.splitlines()[-1].split(maxsplit=2)
    assert heavy == "[]"
    assert float(used) < 0.5
