"""An editing benchmark through the real doors: API, pages, command line, Hub; and its board."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest
from flask.testing import FlaskClient

from core.settings import Settings
from core.tables import Submission
from server.bootstrap import Services
from server.worker import Worker
from tests.command_line import Aqa, runner
from tests.hub_server import Hub
from tests.rated_editing import filled, sheet
from tests.small_benchmark import PASSAGES, add_team
from tests.small_editing import GOOD, ITEMS, add_editing, jsonl, send
from tests.web_client import API, bearer, csrf, sign_in, token

METRICS = [
    "f1_ap", "attr_ais", "pres_comb", "pres_intent", "f1_ap_auto", "attr_auto", "pres_lev", "attr_auto_before",
    "attr_ais_before",
]  # fmt: skip
WHOLE = [*GOOD, {"id": "p3", "revised": "Paris is very old.", "report": [{"text": "Paris is old."}]}]


def form(rows: list[dict[str, Any]] = WHOLE, **more: object) -> dict[str, object]:
    return {"file": (io.BytesIO(jsonl(rows)), "e.jsonl"), "benchmark": "edit", "system": "Editor", **more}


@pytest.fixture
def aqa(settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Aqa:
    return runner(settings, monkeypatch, capsys)


@pytest.fixture
def editing(client: FlaskClient, services: Services, tmp_path: Path) -> FlaskClient:
    add_editing(services, tmp_path / "editing")
    return client


def test_over_the_api_to_the_board(editing: FlaskClient, services: Services) -> None:
    about = editing.get(f"{API}/benchmarks/edit").json
    assert (about["track"], about["questions"]) == ("editing", 4)
    assert editing.get(f"{API}/benchmarks/small").json["track"] == "qa"
    mine = bearer(services)
    bad = [{"id": "p0", "revised": "x", "report": [{"text": "e"}] * 6}]
    seen = editing.post(f"{API}/validate", headers=mine, data=form(bad)).json
    assert (seen["report"]["accepted"], seen["report"]["counts"]["too_many_snippets"]) == (False, 1)
    refused = editing.post(f"{API}/submissions", headers=mine, data=form(bad))
    assert (refused.status_code, "at most 5" in refused.json["error"]["message"]) == (422, True)
    sent = editing.post(f"{API}/submissions", headers=mine, data=form(publish="true"))
    assert sent.status_code == 201, sent.text
    Worker(services).run_until_idle()
    at = f"{API}/submissions/{sent.json['id']}"
    scores = editing.get(f"{at}/scores", headers=mine).json
    assert list(scores["metrics"]) == METRICS
    assert scores["metrics"]["attr_auto"]["judge"] == "token-overlap@1"
    assert "judge" not in scores["metrics"]["pres_lev"]
    assert scores["report"]["unchanged"] == 1
    board = editing.get(f"{API}/leaderboard?benchmark=edit").json
    assert [column["key"] for column in board["columns"]] == METRICS
    assert board["rank_by"] == "f1_ap_auto"
    (row,) = board["rows"]
    assert row["metrics"]["f1_ap_auto"]["value"] == scores["metrics"]["f1_ap_auto"]["value"]
    assert row["rank"] == {"best": 1, "worst": 1, "systems": 1}
    assert [c["key"] for c in editing.get(f"{API}/leaderboard?benchmark=small").json["columns"]][:2] == ["em", "f1"]
    lines = editing.get(f"{at}/download?kind=jsonl", headers=mine).data.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["p0", "p1", "p2", "p3"]
    table = parquet.read_table(io.BytesIO(editing.get(f"{at}/download?kind=parquet", headers=mine).data))
    assert table.column("sentences").to_pylist()[0][0]["text"] == "Oslo is the capital of Norway."
    assert editing.get(f"{at}/download?kind=csv", headers=mine).data.startswith(b"id,text,context,revised,report,")
    manifest = editing.get(f"{at}/download?kind=manifest", headers=mine).json
    assert set(manifest["outputs"]) == {"scores.json", "examples.csv", "examples.jsonl", "examples.parquet"}
    again = editing.post(f"{API}/submissions", headers=mine, data=form())
    assert again.status_code == 409


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_the_template_over_the_api(editing: FlaskClient, services: Services, kind: str) -> None:
    data = editing.get(f"{API}/benchmarks/edit/template?kind={kind}").data
    sent = {"file": (io.BytesIO(data), f"t.{kind}"), "benchmark": "edit"}
    seen = editing.post(f"{API}/validate", headers=bearer(services), data=sent).json
    assert (seen["report"]["accepted"], seen["report"]["counts"]["matched"]) == (True, 4)


def test_predictions_do_not_fit_an_editing_benchmark_and_the_other_way(
    editing: FlaskClient, services: Services
) -> None:
    mine = bearer(services)
    rows = [{"question": ITEMS[0]["text"], "answer": "x", "attribution": ""}]
    seen = editing.post(f"{API}/validate", headers=mine, data=form(rows)).json["report"]
    assert seen["counts"]["wrong_header"] == 1
    assert "revised" in seen["fatal"][0]
    other = form() | {"benchmark": "small"}
    assert editing.post(f"{API}/validate", headers=mine, data=other).json["report"]["counts"]["wrong_header"] == 1


def test_the_pages(editing: FlaskClient, services: Services) -> None:
    page = editing.get("/benchmarks/edit").text
    assert "passages to edit" in page
    assert ITEMS[0]["text"] in page
    assert "revised,report" in editing.get("/benchmarks/edit/template.csv").text
    docs = editing.get("/docs").text
    assert "F1 AP auto" in docs
    assert "Editing for attribution" in docs
    sign_in(editing, token(services, "one"))
    field = csrf(editing.get("/submit?benchmark=edit").text)
    seen = editing.post("/submit", data=form(GOOD, csrf=field, do="validate")).text
    assert "revises 75.0 % of the passages to edit" in seen
    assert "missing passage" in seen
    answer = editing.post("/submit", data=form(csrf=field, do="submit", architecture="unknown"))
    assert answer.status_code == 303, answer.text
    Worker(services).run_until_idle()
    shown = editing.get(answer.headers["Location"]).text
    for title in ("F1 AP auto", "Attr auto before", "Pres Lev"):
        assert title in shown
    assert "Judge: Token overlap (baseline)." in shown
    assert "revises 100.0 % of the passages to edit" in shown
    assert "No human has rated" in shown


def test_a_maintainer_rates_on_the_page_and_over_the_api(editing: FlaskClient, services: Services) -> None:
    sent = send(services, add_team(services, "other"), WHOLE, publish=True)
    Worker(services).run_until_idle()
    boss = bearer(services, "boss", "maintainer")
    drawn = editing.get(f"{API}/ratings/revisions?benchmark=edit&kind=jsonl", headers=boss)
    assert drawn.status_code == 200
    rows = [json.loads(line) for line in drawn.data.splitlines()]
    assert editing.get(f"{API}/ratings/revisions?benchmark=edit", headers=bearer(services)).status_code == 403
    assert editing.get(f"{API}/ratings/revisions?benchmark=small", headers=boss).status_code == 400
    for row in rows:
        row |= {"rater": "Ann"} | ({"intent": "Y"} if row["sentence"] == 0 else {"supported": "Y"})
    file = {"file": (io.BytesIO(jsonl(rows)), "l.jsonl"), "benchmark": "edit"}
    seen = editing.post(f"{API}/ratings/preview", headers=boss, data=file).json
    assert (seen["accepted"], seen["kind"], seen["new"], seen["submissions"]) == (True, "editing", 5, [sent.id])
    file = {"file": (io.BytesIO(jsonl(rows)), "l.jsonl"), "benchmark": "edit"}
    batch = editing.post(f"{API}/ratings", headers=boss, data=file)
    assert (batch.status_code, batch.json["ratings"], batch.json["raters"]) == (201, 5, 1)
    Worker(services).run_until_idle()
    board = editing.get(f"{API}/leaderboard?benchmark=edit").json
    assert board["rank_by"] == "f1_ap"
    assert board["rows"][0]["metrics"]["attr_ais"]["value"] == pytest.approx(2 / 3)
    told = editing.get(f"{API}/ratings/{batch.json['id']}/agreement", headers=boss).json
    assert told["overall"]["items"] == 5
    export = editing.get(f"{API}/ratings/export?benchmark=edit&what=labels&kind=csv", headers=boss)
    assert export.data.splitlines()[0].startswith(b"id,key,sentence,human_rating")
    sign_in(editing, token(services, "boss", "maintainer"))
    page = editing.get("/ratings?benchmark=edit").text
    assert "Also the passages before editing" in page
    field = csrf(page)
    drawn = editing.post("/ratings/sheets", data={"benchmark": "edit", "csrf": field, "before": "on", "do": "file"})
    assert (drawn.status_code, b"Sweden" in drawn.data) == (200, True)
    nothing = editing.post("/ratings/sheets", data={"benchmark": "edit", "csrf": field, "do": "file"})
    assert (nothing.status_code, "no revision to rate" in nothing.text) == (404, True)


def test_on_the_command_line(aqa: Aqa, services: Services, tmp_path: Path) -> None:
    items, corpus, file = tmp_path / "i.jsonl", tmp_path / "c.jsonl", tmp_path / "e.jsonl"
    items.write_bytes(jsonl(ITEMS))
    corpus.write_text("".join(json.dumps({"id": i, "contents": c}) + "\n" for i, c in PASSAGES.items()))
    file.write_bytes(jsonl(WHOLE))
    added = aqa("benchmark", "add", "--id", "edit", "--questions", items, "--corpus", corpus, "--track", "editing")
    assert added.code == 0, added.err
    assert "Editing for attribution" in added.out
    assert aqa("benchmark", "show", "edit", "--json").json["track"] == "editing"
    wrong = aqa("benchmark", "add", "--id", "e2", "--questions", items, "--corpus", corpus, "--track", "x")
    assert (wrong.code, "Tracks: qa, editing" in wrong.err) == (2, True)
    out = tmp_path / "out"
    done = aqa("score", file, "--benchmark", "edit", "--out", out, "--kind", "csv", "--kind", "parquet")
    assert done.code == 0, done.err
    assert "F1 AP auto" in done.out
    assert "shown as" not in done.out
    document = json.loads((out / "scores.json").read_text())
    assert list(document["metrics"]) == METRICS
    assert len((out / "examples.jsonl").read_text().splitlines()) == 4
    add_team(services)
    sent = aqa("submit", file, "--benchmark", "edit", "--system", "Editor", "--team", "team", "--publish", "--json")
    assert sent.code == 0, sent.err
    Worker(services).run_until_idle()
    status = aqa("status", sent.json["id"], "--json")
    assert status.code == 0, status.err
    shown = aqa("status", sent.json["id"]).out
    assert "Attr auto" in shown
    out = tmp_path / "sheet.csv"
    written = aqa("ratings", "sheet", "--benchmark", "edit", "--out", out, "--size", "1")
    assert (written.code, "1 text of edit to rate" in written.out) == (0, True), written.err
    assert aqa("ratings", "sheet", "--benchmark", "edit", "--out", out, "--method", "stratified").code == 2
    refused = aqa("ratings", "preview", out, "--benchmark", "edit")
    assert (refused.code, "not filled in" in refused.out) == (3, True)
    with services.database.reading() as session:
        assert session.get_one(Submission, sent.json["id"]).state == "scored"


def test_a_batch_on_the_command_line_speaks_of_passages(aqa: Aqa, services: Services, tmp_path: Path) -> None:
    add_editing(services, tmp_path / "editing")
    send(services, add_team(services), publish=True)
    Worker(services).run_until_idle()
    file = tmp_path / "labels.csv"
    file.write_bytes(filled(sheet(services), "Ann", {}))
    applied = aqa("ratings", "apply", file, "--benchmark", "edit", "--yes")
    assert applied.code == 0, applied.err
    assert "5 (editing) on 5 sentences and intents by 1 raters" in " ".join(applied.out.split())
    assert "0 revisions that no submission holds" in applied.out
    agreement = aqa("ratings", "agreement", "1").out
    assert "Passages" in agreement
    assert not any(word in applied.out + agreement for word in ("triple", "uestion"))


def test_revisions_come_back_scored_on_the_hub(hub: Hub, tmp_path: Path) -> None:
    add_editing(hub.services, tmp_path / "editing")
    api = hub.api()
    yaml = b"benchmark: edit\narchitecture: retrieve-then-read\n"
    hub.push(api, "one/sys", yaml, jsonl(WHOLE))
    hub.work()
    scores = json.loads(hub.fetch(api, "one/sys", "scores.json"))
    assert list(scores["metrics"]) == METRICS
    table = parquet.read_table(io.BytesIO(hub.fetch(api, "one/sys", "examples.parquet")))
    assert table.column("revised").to_pylist() == [row["revised"] for row in WHOLE]
    report = json.loads(hub.fetch(api, "one/sys", "report.json"))
    assert (report["accepted"], report["counts"]["unchanged"]) == (True, 1)
