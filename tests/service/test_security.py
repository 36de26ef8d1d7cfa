"""What strangers may try: bombs, paths in names, markup, formulas, caches and frames."""

from __future__ import annotations

import csv as csv_module
import dataclasses
import gzip
import io
import json
import time
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from server import web
from server.bootstrap import Services, build
from server.worker import Worker
from tests.live_server import serving
from tests.small_benchmark import GOOD, add_benchmark, jsonl
from tests.web_client import API, bearer, csrf, form, sign_in, submit, token

EVIL = "<img src=x onerror=alert(1)>\"'`${7*7}{{7*7}}"
NAMES = [
    "../../etc/passwd",
    "..\\..\\boot.ini",
    "/etc/passwd",
    "a\r\nX-Evil: 1.jsonl",
    "a\x00.jsonl",
    "con:.jsonl",
    "." * 300,
]
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def test_every_answer_carries_the_headers(client: FlaskClient, services: Services) -> None:
    headers = bearer(services)
    at = submit(client, headers)
    places = ["/", "/nothing", "/static/app.js", "/healthz", "/hub/api/whoami-v2", f"/submissions/{at}"]
    for path in [*places, *(f"{API}/{name}" for name in ("benchmarks", "nothing", "me", "openapi.json"))]:
        for sent in ({}, headers):
            answer = client.get(path, headers=sent)
            assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS, path
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "camera=()" in answer.headers["Permissions-Policy"]
            if not path.startswith("/static/"):
                assert answer.headers["Cache-Control"] == "no-store", path
            assert "Strict-Transport-Security" not in answer.headers
            assert "Access-Control-Allow-Origin" not in answer.headers
    behind_tls = build(dataclasses.replace(services.settings, secure_cookies=True))
    assert "max-age=31536000" in web.create(behind_tls).test_client().get("/").headers["Strict-Transport-Security"]


def test_a_bomb_is_refused_by_its_ratio(client: FlaskClient, services: Services) -> None:
    headers = bearer(services)
    bomb = gzip.compress(b"\n" * (64 * 2**20), 9)
    assert len(bomb) < 100_000
    checked = client.post(f"{API}/validate", headers=headers, data=form(bomb, "bomb.jsonl.gz"))
    refused = client.post(f"{API}/submissions", headers=headers, data=form(bomb, "bomb.jsonl.gz"))
    assert refused.status_code in (413, 422), refused.text
    assert checked.status_code in (200, 413)
    assert checked.status_code == 413 or checked.json["report"]["accepted"] is False
    announced = client.post(f"{API}/uploads", headers=headers, json={"name": "bomb.jsonl.gz", "size": len(bomb)}).json
    at = f"{API}/uploads/{announced['id']}"
    where = {"Content-Range": f"bytes 0-{len(bomb) - 1}/{len(bomb)}"}
    assert client.put(at, headers={**headers, **where}, data=bomb).status_code == 200
    said = {"benchmark": "small", "system": "S"}
    assert client.post(f"{at}/finish", headers=headers, json=said).status_code in (413, 422)


@pytest.mark.parametrize("name", NAMES)
def test_names_of_files_are_only_names(client: FlaskClient, services: Services, name: str, tmp_path: Path) -> None:
    before = {path for path in tmp_path.rglob("*") if path.is_file() and "data/blobs" not in str(path)}
    headers = bearer(services)
    clean = name.replace("\r\n", " ").replace("\x00", " ")
    at = submit(client, headers, file=(io.BytesIO(jsonl(GOOD)), clean), publish="true")
    Worker(services).run_until_idle()
    for path in (f"{API}/submissions/{at}/download?kind=csv", f"{API}/submissions/{at}/download?kind=manifest"):
        answer = client.get(path, headers=headers)
        assert answer.status_code == 200
        disposition = answer.headers["Content-Disposition"]
        assert all(part not in disposition for part in ("/", "\\", "\r", "\n", "passwd")), disposition
    made = client.post(f"{API}/uploads", headers=headers, json={"name": name, "size": 3})
    assert made.status_code in (201, 400)
    after = {path for path in tmp_path.rglob("*") if path.is_file() and "data/blobs" not in str(path)}
    assert {path.suffix for path in after - before} <= {"", ".sqlite-wal", ".sqlite-shm", ".jsonl", ".npy"}
    assert all(path.is_relative_to(tmp_path / "data") for path in after - before if ".sqlite" not in path.name)


@pytest.mark.parametrize(
    "path",
    ["/static/../web.py", "/static/%2e%2e/web.py", "/static/..%2f..%2fpyproject.toml", "/static//etc/passwd",
     f"{API}/benchmarks/..%2f..", "/benchmarks/%2e%2e%2fsecret", "/submissions/..%2f..%2fetc",
     "/hub/datasets/a/b/resolve/main/../../../../etc/passwd", "/hub/datasets/a/b/resolve/main/%2e%2e/x"],
)  # fmt: skip
def test_paths_lead_nowhere(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code in (301, 308, 400, 404), answer.status_code
    assert "root:" not in answer.text
    assert "import" not in answer.text


def test_markup_is_inert_on_every_page(services: Services, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    add_benchmark(services, folder, title=EVIL, description=EVIL)
    client = web.create(services).test_client()
    sign_in(client, token(services, f"{EVIL[:70]}"))
    evil = [{**row, "answer": EVIL} for row in GOOD]
    fields = form(jsonl(evil), f"{EVIL}.jsonl", system=EVIL, description=EVIL, supervision=EVIL, architecture="other")
    fields |= {"links": 'https://x.org/"><script>', "publish": "on", "csrf": csrf(client.get("/submit").text)}
    sent = client.post("/submit", data=fields)
    assert sent.status_code == 303, sent.text
    Worker(services).run_until_idle()
    field = {"csrf": csrf(client.get("/team").text)}
    pages = [client.get(path) for path in ("/", "/benchmarks/small", sent.location, "/submissions", "/team", "/docs")]
    pages.append(client.post("/team/tokens", data={"label": EVIL[:80], "days": "1"} | field))
    pages.append(client.post("/team/alias", data={"alias": EVIL[:80], "until": EVIL} | field))
    pages.append(client.get(f"/submissions/{EVIL}"))
    pages.append(client.get(f"/sign-in?back=/{EVIL}"))
    for page in pages:
        assert page.mimetype == "text/html"
        assert "<img src=x" not in page.text
        assert '"><script>' not in page.text
        assert "49" not in page.text.split("<main", 1)[1].split("{{7*7}}")[0][-40:], "no template was run"
    assert sum("&lt;img src=x" in page.text for page in pages) >= 7


def test_markup_is_inert_for_raters(client: FlaskClient, services: Services) -> None:
    house = bearer(services, "house", "maintainer")
    submit(client, bearer(services), file=(io.BytesIO(jsonl([{**GOOD[0], "answer": EVIL}])), "a.jsonl"), publish="true")
    Worker(services).run_until_idle()
    sheet = client.post(f"{API}/ratings/sheets", headers=house, json={"benchmark": "small", "method": "all"})
    assert sheet.status_code == 201, sheet.text
    opened = client.post(f"{API}/ratings/sheets/{sheet.json['id']}/open", headers=house, json={})
    assert opened.status_code in (200, 201), opened.text
    sign_in(client, token(services, "rater", "rater"))
    seen = ""
    for link in [
        part.split('"')[0] for part in client.get("/rate").text.split('href="')[1:] if part.startswith("/rate/")
    ]:
        seen += client.get(link).text
    assert "&lt;img src=x" in seen
    assert "<img src=x" not in seen


def test_the_boards_data_holds_texts_as_texts(services: Services, tmp_path: Path) -> None:
    """What the board makes of them is looked at in Chromium (tests/browser); here is what it is given."""
    import httpx

    add_benchmark(services, tmp_path / "files")
    with serving(services) as url, httpx.Client(base_url=url, timeout=30) as live:
        headers = bearer(services)
        fields = {"benchmark": "small", "system": EVIL, "publish": "true"}
        made = live.post(f"{API}/submissions", headers=headers, data=fields, files={"file": ("a.jsonl", jsonl(GOOD))})
        assert made.status_code == 201
        for _ in range(200):
            if live.get(f"{API}/submissions/{made.json()['id']}", headers=headers).json()["state"] == "scored":
                break
            time.sleep(0.05)
        page = live.get("/leaderboard/?benchmark=small").text
        assert "<img src=x" not in page
        board = live.get(f"{API}/leaderboard?benchmark=small")
        assert [row["system"] for row in board.json()["rows"]] == [EVIL], "JSON holds the text as it is"
        assert board.headers["content-type"] == "application/json"


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x")'])
def test_no_spreadsheet_runs_what_others_wrote(client: FlaskClient, services: Services, formula: str) -> None:
    headers = bearer(services)
    rows = [{**GOOD[0], "answer": formula}, *GOOD[1:]]
    at = submit(client, headers, file=(io.BytesIO(jsonl(rows)), "a.jsonl"), system=formula.strip(), publish="true")
    Worker(services).run_until_idle()
    examples = client.get(f"{API}/submissions/{at}/download?kind=csv", headers=headers).text
    board = client.get(f"{API}/leaderboard/download?benchmark=small&kind=csv").text
    for text in (examples, board):
        cells = [cell for row in csv_module.reader(io.StringIO(text, newline="")) for cell in row]
        assert not [cell for cell in cells if cell[:1] in ("=", "@", "\t", "\r")], cells
        assert not [cell for cell in cells if cell[:1] in ("+", "-") and not _is_number(cell)]
    kept = [
        json.loads(line) for line in client.get(f"{API}/submissions/{at}/download", headers=headers).text.splitlines()
    ]
    assert kept[0]["answer"] == formula, "only CSV is changed"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
