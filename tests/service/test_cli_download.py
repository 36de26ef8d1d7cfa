"""`aqa benchmark download`: the whole way from the Hub and the corpus's server to a benchmark."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from core.settings import Settings
from server.bootstrap import build
from tests.command_line import Ended
from tests.file_server import Files, serving
from tests.small_benchmark import NILE, PASSAGES, QUESTIONS


@pytest.fixture
def files() -> Iterator[Files]:
    table = pa.table({"question": [q for _, q, _ in QUESTIONS], "answer": [answers for *_, answers in QUESTIONS]})
    questions, corpus = io.BytesIO(), io.BytesIO()
    parquet.write_table(table, questions)
    lines = [json.dumps({"id": i, "contents": c}) + "\n" for i, c in PASSAGES.items()]
    with zipfile.ZipFile(corpus, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("wikipedia/", "")
        archive.writestr("wikipedia/part-00", "".join(lines[:2]))
        archive.writestr("wikipedia/part-01", "".join(lines[2:]))
    content = {
        "nq_open/train-00000-of-00001.parquet": b"not fetched",
        "nq_open/validation-00000-of-00001.parquet": questions.getvalue(),
        "wikipedia.zip": corpus.getvalue(),
    }
    with serving(Files(content)) as served:
        yield served


def download(files: Files, folder: Path, *more: str, corpus: str = "wikipedia.zip") -> Ended:
    """In a process of its own: the Hub's client reads its address once."""
    environment = os.environ | {
        "AQA_DATA_DIR": str(folder), "HF_ENDPOINT": files.url, "HF_HOME": str(folder / "hub"),
        "HF_HUB_DISABLE_TELEMETRY": "1", "AQA_DATABASE_URL": "", "COLUMNS": "100", "NO_PROXY": "127.0.0.1",
    }  # fmt: skip
    command = [sys.executable, "-c", "from server.cli import main; main()", "benchmark", "download", "nq-open-dev"]
    command += ["--corpus-url", f"{files.url}/{corpus}", *more]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def test_the_whole_way(files: Files, tmp_path: Path) -> None:
    files.cut_after, files.cuts = 200, 2
    ended = download(files, tmp_path)
    assert ended.code == 0, ended.err
    assert "it has 5 questions; the split is known with 3,610" in ended.out
    services = build(Settings(judge="token-overlap", data_dir=str(tmp_path)))
    benchmark = services.benchmarks.get("nq-open-dev")
    assert [(q.text, list(q.references)) for q in benchmark.questions] == [(q, a) for _, q, a in QUESTIONS]
    assert services.benchmarks.corpus(benchmark).passages([NILE])[NILE].text == "The Nile flows north for 6,650 km."
    assert any(wanted for method, path, wanted in files.requests if path == "/wikipedia.zip" and method == "GET")
    assert not any("train" in path for method, path, _ in files.requests if method == "GET" and "resolve" in path)
    before = len(files.requests)
    assert download(files, tmp_path).code == 0  # adding the same again changes nothing, and fetches nothing large
    assert not [r for r in files.requests[before:] if r[:2] == ("GET", "/wikipedia.zip")]


def test_dry_run_tells_sizes_and_fetches_nothing(files: Files, tmp_path: Path) -> None:
    ended = download(files, tmp_path, "--dry-run")
    assert ended.code == 0, ended.err
    assert "wikipedia.zip" in ended.out
    assert "validation-00000-of-00001.parquet" in ended.out
    assert f"{len(files.files['wikipedia.zip'])} bytes" in ended.out
    assert "Free space" in ended.out
    assert not [path for method, path, _ in files.requests if method == "GET" and not path.startswith("/api/")]
    assert not (tmp_path / "downloads").exists()


def test_a_wrong_checksum_refuses_the_corpus(files: Files, tmp_path: Path) -> None:
    ended = download(files, tmp_path, "--corpus-sha256", "0" * 64)
    assert ended.code == 3
    assert "sha256" in ended.err
    assert "Traceback" not in ended.err
    assert not list((tmp_path / "downloads").rglob("wikipedia.zip"))
    assert build(Settings(judge="token-overlap", data_dir=str(tmp_path))).benchmarks.all() == []


def test_places_that_do_not_answer(files: Files, tmp_path: Path) -> None:
    missing = download(files, tmp_path, corpus="nothing.zip")
    assert missing.code == 1
    assert "404" in missing.err
    files.files = {"wikipedia.zip": files.files["wikipedia.zip"]}
    empty = download(files, tmp_path)
    assert empty.code == 3
    assert "0 Parquet files" in empty.err
    files.url = "http://127.0.0.1:9"
    away = download(files, tmp_path)
    assert away.code == 1
    assert "HF_ENDPOINT" in away.err
    assert "Traceback" not in away.err
