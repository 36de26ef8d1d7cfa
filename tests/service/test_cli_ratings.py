"""`aqa ratings` and `aqa import released`, from the terminal's side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.settings import Settings
from server.bootstrap import Services
from server.worker import Worker
from tests.command_line import Aqa, runner
from tests.file_server import Files, serving
from tests.ratings_files import HEADER, TRIPLES, ratings_csv, table
from tests.released_file import ROWS, write
from tests.small_benchmark import add_benchmark, add_team, submit

FIRST = {"oslo": "YYN", "roma": "YNN", "nile": "YYY"}


@pytest.fixture
def aqa(settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Aqa:
    return runner(settings, monkeypatch, capsys)


@pytest.fixture
def file(services: Services, tmp_path: Path) -> Path:
    add_benchmark(services, tmp_path / "files", raters_per_item=3)
    submit(services, add_team(services), publish=True)
    Worker(services).run_until_idle()
    path = tmp_path / "ratings.csv"
    path.write_bytes(ratings_csv(FIRST))
    return path


def test_preview_apply_list_revoke(aqa: Aqa, file: Path, services: Services) -> None:
    seen = aqa("ratings", "preview", file, "--benchmark", "small")
    assert seen.code == 0
    assert "9 (rater-level) on 3 triples by 3 raters" in seen.out
    assert "1 submissions to evaluate again" in " ".join(seen.out.split())
    found = aqa("ratings", "preview", file, "--benchmark", "small", "--json").json
    assert (found["new"], found["conflicts"], found["new_labels"], found["unheld"]) == (9, 0, 3, 0)
    assert aqa("ratings", "list").out.startswith("There is no batch yet")

    unasked = aqa("ratings", "apply", file, "--benchmark", "small")
    assert (unasked.code, "--yes" in unasked.err) == (2, True)
    done = aqa("ratings", "apply", file, "--benchmark", "small", "--note", "first", "--author", "mo", "--yes")
    assert (done.code, "Applied as batch 1" in done.out) == (0, True)
    again = aqa("ratings", "apply", file, "--benchmark", "small", "--yes")
    assert (again.code, "batch 1" in again.err) == (2, True)
    assert aqa("ratings", "preview", file, "--benchmark", "small").code == 3

    Worker(services).run_until_idle()
    [batch] = aqa("ratings", "list", "--benchmark", "small", "--json").json
    assert {key: batch[key] for key in ("id", "state", "author", "note", "ratings", "triples", "raters")} == {
        "id": 1, "state": "applied", "author": "mo", "note": "first", "ratings": 9, "triples": 3, "raters": 3,
    }  # fmt: skip
    assert "applied" in aqa("ratings", "list").out
    assert aqa("ratings", "revoke", "1").code == 0
    assert aqa("ratings", "list", "--json").json[0]["state"] == "revoked"
    assert aqa("ratings", "revoke", "7").code == 2


def test_a_conflict_is_shown_before_anything_is_written(aqa: Aqa, file: Path, tmp_path: Path) -> None:
    aqa("ratings", "apply", file, "--benchmark", "small", "--yes")
    later = tmp_path / "later.csv"
    later.write_bytes(ratings_csv({"oslo": "NNN"}))
    seen = " ".join(aqa("ratings", "preview", later, "--benchmark", "small").out.split())
    assert "0 new, 1 repeats, 2 conflicts" in seen
    assert "rater-1 said Y in batch 1, now N: what is the capital of norway → Oslo" in seen
    assert "1 verdicts turned" in seen


def test_a_bad_file_exits_3_and_names_the_rows(aqa: Aqa, file: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_bytes(table(HEADER, [(*TRIPLES["oslo"], "a", "Y", "Y"), (*TRIPLES["oslo"], "a", "N", "")]))
    for command in (("apply", "--yes"), ("preview",)):
        ended = aqa("ratings", command[0], bad, "--benchmark", "small", *command[1:])
        assert ended.code == 3
        assert "row 1 already" in " ".join(ended.out.split())
    ended = aqa("ratings", "apply", bad, "--benchmark", "small", "--json")
    assert (ended.code, ended.out, "row 2" in ended.err) == (3, "", True)
    assert aqa("ratings", "list", "--json").json == []


def test_agreement_raters_and_export(aqa: Aqa, file: Path, tmp_path: Path) -> None:
    aqa("ratings", "apply", file, "--benchmark", "small", "--yes", "--synthetic")
    found = aqa("ratings", "agreement", "1", "--json").json
    assert (found["overall"]["items"], found["overall"]["ties"], found["accuracy"]) == (3, 0, [])
    assert "rater-1" in aqa("ratings", "agreement", "1").out
    assert aqa("ratings", "raters", "--benchmark", "small").out == "Nobody was ever left out.\n"
    assert aqa("ratings", "leave-out", "rater-1", "--benchmark", "small", "--reason", "tired").code == 0
    assert "tired" in aqa("ratings", "raters", "--benchmark", "small").out
    assert aqa("ratings", "take-back", "rater-1", "--benchmark", "small", "--author", "mo").code == 0
    [row] = aqa("ratings", "raters", "--benchmark", "small", "--json").json
    assert (row["rater"], row["taken_back_by"]) == ("rater-1", "mo")
    out = tmp_path / "labels.jsonl"
    assert aqa("ratings", "export", "--benchmark", "small", "--out", out).code == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(r["answer"], r["human_rating"], r["positive"], r["raters"], r["synthetic"]) for r in rows] == [
        ("Oslo", "Y", 2, 3, True), ("Roma", "N", 1, 3, True), ("6,650 km", "Y", 3, 3, True),
    ]  # fmt: skip
    assert (
        aqa("ratings", "export", "--benchmark", "small", "--what", "ratings", "--out", tmp_path / "r.parquet").code == 0
    )
    assert aqa("ratings", "export", "--benchmark", "small", "--what", "it", "--out", out).code == 2
    assert aqa("ratings", "export", "--benchmark", "small", "--out", tmp_path / "x.xls").code == 2
    assert not list(tmp_path.glob("*.partial"))


def test_a_sheet_goes_to_the_raters(aqa: Aqa, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "sheet.csv"
    drawn = aqa("ratings", "sheet", "--benchmark", "small", "--method", "stratified", "--size", "3", "--out", out)
    assert (drawn.code, "Sheet 1 of small" in drawn.out) == (0, True)
    assert out.read_text().count("Title: ") == 3
    assert "batch 1" in aqa("ratings", "open", "1").out
    assert aqa("ratings", "open", "1").code == 2
    assert aqa("ratings", "close", "1").code == 0
    assert aqa("ratings", "sheet", "--benchmark", "small", "--method", "random").code == 2


def test_import_released(aqa: Aqa, services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    path = write(tmp_path / "ratings.csv", ROWS)
    done = aqa("import", "released", path, "--benchmark", "small")
    assert done.code == 0
    assert "3, 3 of them new" in done.out
    assert done.out.endswith("Scored.\n")
    assert aqa("import", "released").code == 2
    assert aqa("import", "released", path, "--download").code == 2
    missing = aqa("import", "released", path)
    assert (missing.code, "--questions" in missing.err) == (2, True)


def test_import_released_fetches_it(
    aqa: Aqa, services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_benchmark(services, tmp_path / "files")
    data = write(tmp_path / "ratings.csv", ROWS).read_bytes()
    with serving(Files({"ratings.csv": data})) as server:
        listing = [
            {"name": "README.md", "download_url": f"{server.url}/README.md"},
            {"name": "ratings.csv", "download_url": f"{server.url}/ratings.csv"},
        ]
        server.files["listing"] = json.dumps(listing).encode()
        server.files["none"] = b"[]"
        monkeypatch.setattr("server.fetch.released.LISTING", f"{server.url}/listing")
        assert "3 of them new" in aqa("import", "released", "--download", "--benchmark", "small").out
        monkeypatch.setattr("server.fetch.released.LISTING", f"{server.url}/none")
        assert aqa("import", "released", "--download", "--benchmark", "small").code == 3
        monkeypatch.setattr("server.fetch.released.LISTING", f"{server.url}/missing")
        gone = aqa("import", "released", "--download", "--benchmark", "small")
    assert (gone.code, "give its path" in gone.err) == (1, True)
