"""`aqa score`, `submit`, `status`, `export`, `judge`: from a file to numbers, here and over the API."""

from __future__ import annotations

import csv
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pyarrow.parquet as parquet
import pytest
import uvicorn
from a2wsgi import WSGIMiddleware
from sqlalchemy import select

from core.settings import Settings
from core.tables import Submission, System
from server import auth, web
from server.bootstrap import Services
from server.client import Client
from server.worker import Worker
from submissions.intake import SystemCard
from tests.command_line import Aqa, runner
from tests.small_benchmark import GOOD, OSLO, add_benchmark, add_team, jsonl

CARD = ("--benchmark", "small", "--system", "My system", "--architecture", "retrieve-then-read")


@pytest.fixture
def aqa(settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Aqa:
    return runner(settings, monkeypatch, capsys)


@pytest.fixture
def good(services: Services, tmp_path: Path) -> Path:
    add_benchmark(services, tmp_path / "files", synthetic=True)
    path = tmp_path / "good.jsonl"
    path.write_bytes(jsonl(GOOD))
    return path


@pytest.fixture
def url(services: Services) -> Iterator[str]:
    """The address of the real web application on a real socket; without the board, which takes seconds to load."""
    app = uvicorn.Config(WSGIMiddleware(web.create(services)), port=0, log_level="warning", lifespan="off")
    server = uvicorn.Server(app)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join(10)


def token(services: Services, team: str = "team") -> str:
    with services.database.transaction() as session:
        return auth.new_token(session, auth.add_team(session, team), days=1)


def test_score_writes_what_it_prints(aqa: Aqa, good: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("score", good, "--benchmark", "small", "--judge", "token-overlap", "--out", out, "--kind", "csv")
    printed = aqa(*command, "--json")
    assert printed.code == 0, printed.err
    assert printed.json == json.loads((out / "scores.json").read_text())
    assert printed.json["metrics"]["em"]["value"] == 0.6
    assert {path.name for path in out.iterdir()} == {"scores.json", "examples.jsonl", "examples.csv", "manifest.json"}
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["command"] == ("aqa score good.jsonl --benchmark small --judge token-overlap --out OUT --kind csv")
    before = (out / "scores.json").read_bytes()
    shown = aqa(*command)
    assert shown.code == 0
    assert (out / "scores.json").read_bytes() == before
    for told in ("60.0", "Token overlap (baseline)", "token-overlap@1", "synthetic ratings", "95 % interval", "BCa"):
        assert told in shown.out
    # A path stands on one line, so that it can be copied.
    assert max(len(line) for line in shown.out.splitlines() if str(out) not in line) <= 80


def test_a_refused_file_gives_the_report_and_nothing_else(aqa: Aqa, good: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("question,answer,attribution\nwhat is the capital of norway,Oslo\n")
    refused = aqa("score", bad, "--benchmark", "small", "--out", tmp_path / "out", "--json")
    assert (refused.code, refused.out) == (3, "")
    assert "row 1" in refused.err
    assert "what is the capital of norway" in refused.err
    assert not (tmp_path / "out").exists()
    assert aqa("submit", bad, *CARD, "--team", "nobody").code == 2
    assert aqa("score", tmp_path, "--benchmark", "small", "--out", tmp_path / "out").code == 3  # a directory


def test_what_is_not_there(aqa: Aqa, good: Path, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "out")
    for wrong in (
        ("score", tmp_path / "no.csv", "--benchmark", "small", *out),
        ("score", good, "--benchmark", "nope", *out),
        ("score", good, "--benchmark", "small", "--judge", "nobody", *out),
        ("score", good, "--benchmark", "small", "--kind", "xlsx", *out),
        ("score", good, *out),
        ("status", "nothing"),
        ("export", "--benchmark", "nope", *out),
        ("submit", good, *CARD),
        ("submit", good, *CARD, "--team", "nobody"),
        ("submit", good, *CARD[:-1], "no-such-architecture", "--team", "nobody"),
    ):
        ended = aqa(*wrong)
        assert (ended.code, ended.out) == (2, ""), wrong
        assert ended.err
        assert "Traceback" not in ended.err


def test_submit_here_wait_and_export(aqa: Aqa, good: Path, services: Services, tmp_path: Path) -> None:
    add_team(services, "one")
    sent = aqa("submit", good, *CARD, "--team", "one", "--publish", "--wait", "--json")
    assert sent.code == 0, sent.err
    entry = sent.json
    assert (entry["state"], entry["published"]) == ("scored", True)
    assert entry["scores"]["metrics"]["em"]["value"] == 0.6
    assert aqa("status", entry["id"], "--json").json == entry
    shown = aqa("status", entry["id"]).out
    assert "My system, version 1, of one" in shown
    assert "synthetic ratings" in shown
    again = aqa("submit", good, *CARD, "--team", "one")
    assert again.code == 2
    assert "exactly this content" in again.err
    for kind in ("csv", "json", "parquet"):
        ended = aqa("export", "--benchmark", "small", "--out", tmp_path / kind, "--kind", kind)
        assert ended.code == 0, ended.err
    with (tmp_path / "csv" / "leaderboard.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    (same,) = parquet.read_table(tmp_path / "parquet" / "leaderboard.parquet").to_pylist()
    (board_row,) = json.loads((tmp_path / "json" / "leaderboard.json").read_text())["rows"]
    assert float(row["em"]) == same["em"] == board_row["metrics"]["em"]["value"] == 0.6
    assert (row["system"], same["autoais_judge"], same["synthetic_ratings"]) == ("My system", "token-overlap", True)
    assert (row["ais"], same["ais"]) == ("", None)
    assert same["ais_reason"] == board_row["metrics"]["ais"]["reason"]
    folder = tmp_path / "csv" / "submissions" / entry["id"]
    assert {path.name for path in folder.iterdir()} == {"scores.json", "examples.csv", "manifest.json"}
    scored = aqa("score", good, "--benchmark", "small", "--out", tmp_path / "here", "--json").json
    assert scored == json.loads((folder / "scores.json").read_text())


def test_submit_over_the_api(aqa: Aqa, good: Path, services: Services, url: str, tmp_path: Path) -> None:
    at = ("--url", url, "--token", token(services))
    sent = aqa("submit", good, *CARD, *at, "--link", "https://example.org/a", "--link", "https://example.org/b")
    assert sent.code == 0, sent.err
    assert "queued" in sent.out
    assert f"--url {url}" in sent.out
    with services.database.reading() as session:
        assert session.scalars(select(System)).one().links == ["https://example.org/a", "https://example.org/b"]
    identifier = sent.out.split()[1]
    assert aqa("status", identifier, *at, "--json").json["scores"] is None
    Worker(services).run_until_idle()
    done = aqa("submit", good, *CARD[:3], "Other system", *at, "--json")
    Worker(services).run_until_idle()
    followed = aqa("status", done.json["id"], *at, "--json").json
    assert followed["scores"]["metrics"]["em"]["value"] == 0.6
    assert "60.0" in aqa("status", identifier, *at).out


def test_an_answer_that_was_lost_makes_no_second_submission(good: Path, services: Services, url: str) -> None:
    class LosesTheFirst(httpx.BaseTransport):
        def __init__(self) -> None:
            self.plain, self.sent = httpx.HTTPTransport(), 0

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            response = self.plain.handle_request(request)
            self.sent += 1
            if self.sent == 1:
                response.read()
                raise httpx.ReadError("the connection broke", request=request)
            return response

    transport = LosesTheFirst()
    client = Client(url, token(services), transport)
    made = client.submit(good, "small", SystemCard("My system"), publish=False)
    assert transport.sent == 2
    with services.database.reading() as session:
        assert session.scalars(select(Submission.id)).all() == [made["id"]]


def test_the_services_errors_keep_their_exit_codes(
    aqa: Aqa, good: Path, services: Services, url: str, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("question,answer,attribution\nwhat is the capital of norway,Oslo\n")
    at = ("--url", url, "--token", token(services))
    refused = aqa("submit", bad, *CARD, *at)
    assert (refused.code, refused.out) == (3, "")
    assert "row 1" in refused.err
    assert aqa("submit", good, "--benchmark", "nope", *CARD[2:], *at).code == 2
    unknown = aqa("submit", good, *CARD, "--url", url, "--token", "aqa_wrong")
    assert unknown.code == 1
    assert "not known" in unknown.err
    assert aqa("status", "nothing", "--url", url).code == 2
    away = aqa("status", "nothing", "--url", "http://127.0.0.1:9")
    assert away.code == 1
    assert "refused the connection" in away.err
    assert aqa("status", "nothing", "--url", "ftp://x").code == 2
    elsewhere = aqa("status", "nothing", "--url", f"{url}/account")
    assert elsewhere.code in (1, 2)
    assert "Traceback" not in elsewhere.err


def test_judge_any_file_in_its_order(aqa: Aqa, services: Services, tmp_path: Path) -> None:
    question = "what is the capital of norway"
    rows = [
        {"question": question, "answer": "Oslo", "passage": "« Oslo » « Oslo, Now » Oslo is the capital of Norway."},
        {
            "question": question,
            "answer": "Oslo",
            "passage": "Title: Oslo\nSection: Now\n\nOslo is the capital of Norway.",
        },
        {
            "question": question,
            "answer": "Bergen",
            "passage": "Oslo is the capital of Norway.",
            "label": "gold",
            "x": 1,
        },
        {"premise": "Oslo is in Norway.", "hypothesis": "Oslo is in Norway."},
    ]
    source, out = tmp_path / "pairs.jsonl", tmp_path / "out.jsonl"
    source.write_text("\n".join(json.dumps(row) for row in rows))
    ended = aqa("judge", "token-overlap", "--in", source, "--out", out)
    assert ended.code == 0, ended.err
    assert "4 pairs judged by Token overlap (baseline)" in ended.out
    judged = [json.loads(line) for line in out.read_text().splitlines()]
    assert judged[0]["p"] == judged[1]["p"]
    assert [line["label"] for line in judged] == ["1", "1", "0", "1"]
    assert (judged[2]["input_label"], judged[2]["x"], judged[2]["p"]) == ("gold", 1, 0.0)
    for row, line in zip(rows, judged, strict=True):
        assert row.items() - {("label", "gold")} <= {k: v for k, v in line.items() if k != "flags"}.items()
    before = out.read_bytes()
    assert aqa("judge", "token-overlap", "--in", source, "--out", out).code == 0
    assert out.read_bytes() == before


def test_judge_goes_on_where_a_killed_run_stopped(
    aqa: Aqa, services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scorer.judges.token_overlap import TokenOverlap

    rows = [{"premise": f"number {at}", "hypothesis": f"number {at}"} for at in range(10)]
    source, out = tmp_path / "pairs.jsonl", tmp_path / "out.jsonl"
    source.write_text("\n".join(json.dumps(row) for row in rows))
    monkeypatch.setenv("AQA_JUDGE_CHUNK", "3")
    plain, calls = TokenOverlap.judge, []

    def stops(self: TokenOverlap, pairs: list[object]) -> list[object]:
        calls.append(len(pairs))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return plain(self, pairs)  # type: ignore[arg-type]

    monkeypatch.setattr(TokenOverlap, "judge", stops)
    assert aqa("judge", "token-overlap", "--in", source, "--out", out).code != 0
    assert not out.exists()
    assert aqa("judge", "token-overlap", "--in", source, "--out", out).code == 0
    assert calls == [3, 3, 3, 3, 1]
    assert len(out.read_text().splitlines()) == 10


@pytest.mark.parametrize(
    "bad", ["not json", "[1]", '{"question": "q", "answer": "a"}', '{"premise": 1, "hypothesis": ""}']
)
def test_judge_refuses_what_is_no_pair(aqa: Aqa, services: Services, tmp_path: Path, bad: str) -> None:
    source = tmp_path / "pairs.jsonl"
    source.write_text('{"premise": "a", "hypothesis": "a"}\n' + bad + "\n")
    refused = aqa("judge", "token-overlap", "--in", source, "--out", tmp_path / "out.jsonl")
    assert refused.code == 3
    assert "row 2" in refused.err
    assert not (tmp_path / "out.jsonl").exists()
    assert aqa("judge", "token-overlap", "--in", tmp_path / "no", "--out", tmp_path / "out.jsonl").code == 2
    assert aqa("judge", "nobody", "--in", source, "--out", tmp_path / "out.jsonl").code in (2, 3)


def test_passage_ids_are_printed_as_data(aqa: Aqa, services: Services, good: Path, tmp_path: Path) -> None:
    path = tmp_path / "markup.jsonl"
    path.write_bytes(jsonl([GOOD[0] | {"attribution": "[red]no[/red] [/nonsense]"}, *GOOD[1:]]))
    shown = aqa("score", path, "--benchmark", "small", "--out", tmp_path / "out")
    assert shown.code == 0
    assert OSLO not in shown.err
