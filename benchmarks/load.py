"""The service under load on 127.0.0.1: what users wait, what processes hold, and where it ends.

`board_json`: requests/s of the board's JSON against a plain Flask page that reads the same bytes from SQLite, both
    under uvicorn, Flask behind a2wsgi as here, 50 users, in turn; the median ratio of the rounds.
`two_workers`: one submission of 3,610 pairs under the judge `small`, by one worker process and by two, a core each.
`embedded`, `scaled`: p50 and p95 of six kinds of requests from 50 users who never pause (a board's page is a page and
    the table that it then asks for), memory and processor time of each process, and requests/s from 1, 10 and 50 users.
    Embedded is one process over SQLite; scaled is a web process, a worker, PostgreSQL and Redis. Judged by
    `token-overlap`, so that the judge is not what is measured.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sqlite3
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.board_world import World, answer_file, generate
from benchmarks.load_client import Request, form, get, load, post
from benchmarks.load_parts import AQA, Process, free_port, postgres, redis, running
from benchmarks.load_workers import two_workers
from core.settings import Settings
from server import auth
from server.bootstrap import build

WORLD = World(systems=23, questions=3_610, rated=1_000, resamples=499)
API, BOARD = "/api/v1", f"/api/v1/leaderboard?benchmark={WORLD.benchmark_id}"
EVENT = f"/leaderboard/gradio_api/run/predict?benchmark={WORLD.benchmark_id}"
USERS, ROUNDS = 50, 3
_COMMON: dict[str, object] = {
    "AQA_RATE_LIMIT": "", "AQA_RATE_LIMIT_FILES": "", "AQA_RATE_LIMIT_BOARD": "", "AQA_SUBMISSIONS_PER_DAY": 0,
    "AQA_JUDGE": "token-overlap",
}  # fmt: skip


def board_json(seconds: float) -> dict[str, Any]:
    """Our answer and the plain page's, in turn."""
    with tempfile.TemporaryDirectory(prefix="aqa-load-") as folder:
        prepare(Settings(data_dir=folder))
        ports = {"ours": free_port(), "theirs": free_port()}
        quiet = {"AQA_DATA_DIR": folder, "AQA_PORT": ports["ours"], "AQA_EMBEDDED_WORKER": "no", **_COMMON}
        ours = Process(*AQA, "serve", **quiet)
        with ExitStack() as stack:
            stack.enter_context(running(ours))
            ours.answers(ports["ours"])
            page = Path(folder) / "plain.sqlite"
            with urllib.request.urlopen(f"http://127.0.0.1:{ports['ours']}{BOARD}", timeout=60) as answer:
                body = answer.read()
            with sqlite3.connect(page) as connection:
                connection.execute("CREATE TABLE page (id INTEGER PRIMARY KEY, body BLOB)")
                connection.execute("INSERT INTO page VALUES (1, ?)", (body,))
            theirs = Process("-m", "benchmarks.plain_page", str(ports["theirs"]), str(page))
            stack.enter_context(running(theirs))
            theirs.answers(ports["theirs"], "/")
            each = {"ours": (ours, BOARD), "theirs": (theirs, "/")}
            rounds = [{name: _rate(ports[name], *each[name], seconds) for name in each} for _ in range(ROUNDS)]
        median = {name: statistics.median(each[name][0] for each in rounds) for name in each}
        spent = {name: statistics.median(each[name][1] for each in rounds) for name in each}
        ratios = sorted(each["ours"][0] / each["theirs"][0] for each in rounds)
        return {
            "ratio": round(statistics.median(ratios), 2), "ours": round(median["ours"]),
            "theirs": round(median["theirs"]), "unit": "requests/s", "bytes": len(body),
            "rounds": [round(ratio, 2) for ratio in ratios],
            "processor_ms": [round(1e3 * spent[name], 2) for name in ("ours", "theirs")],
        }  # fmt: skip


def _rate(port: int, process: Process, path: str, seconds: float) -> tuple[float, float]:
    """Requests a second, and processor seconds of the server for each."""
    before = process.processor
    times = load(port, {"page": (1.0, get(path))}, USERS, seconds)
    if times.refused["page"]:
        sys.exit(f"{path}: {times.refused['page']} requests were refused")
    return times.rate, (process.processor - before) / (times.rate * times.wall)


def prepare(settings: Settings) -> str:
    """Fill a database with the world; returns a team's token."""
    services = build(settings)
    services.database.upgrade()
    generate(services.database, Path(settings.data_dir), WORLD)
    with services.database.transaction() as session:
        token = auth.new_token(session, auth.add_team(session, "load"))
    services.database.engine.dispose()
    return token


def upload(token: str, numbers: itertools.count[int]) -> Request:
    """Uploads of all questions' answers, each of another system and content."""
    names = ({"benchmark": WORLD.benchmark_id, "system": f"Load {n}"} for n in numbers)
    content = answer_file(WORLD, 0)

    def request() -> bytes:
        fields = next(names)
        mine = content.replace(b'"Somebody else"', f'"{fields["system"]}"'.encode(), 1)
        return form(f"{API}/submissions", fields, "answers.jsonl", mine, token)

    return request


def mixed(token: str, port: int) -> dict[str, tuple[float, Request]]:
    """The requests of a busy day, by weight. One upload is sent first, whose status is then asked for."""
    send = upload(token, itertools.count())
    sent = load(port, {"upload": (1.0, send)}, 1, 0.01)
    if sent.refused["upload"]:
        sys.exit("the first upload was refused")
    mine = urllib.request.Request(
        f"http://127.0.0.1:{port}{API}/submissions", headers={"Authorization": f"Bearer {token}"}
    )
    with urllib.request.urlopen(mine, timeout=60) as answer:
        first = json.load(answer)["submissions"][0]["id"]

    def event(number: int) -> bytes:
        body = json.dumps({"data": [], "fn_index": number, "session_hash": "load"}).encode()
        return post(EVENT, body, "application/json")

    board, example = event(_event(port, "")), event(_event(port, "examples"))
    return {
        "board JSON": (30, get(BOARD)),
        "board page": (10, get("/leaderboard/")),
        "board table": (10, lambda: board),
        "example": (20, lambda: example),
        "status": (25, get(f"{API}/submissions/{first}", token)),
        "upload": (5, send),
    }


def _event(port: int, page: str) -> int:
    """The number of the event that fills a page of the board when it is opened."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/leaderboard/config", timeout=60) as answer:
        config = json.load(answer)
    mine = config["page"][page]["dependencies"]
    return next(d["id"] for d in config["dependencies"] if d["id"] in mine and d["targets"][0][1] == "load")


def under_load(name: str, seconds: float) -> dict[str, Any] | None:
    """One of the two ways to run the service, under 50 users."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="aqa-load-"))
        port = free_port()
        settings: dict[str, object] = {"AQA_DATA_DIR": folder, "AQA_PORT": port, **_COMMON}
        if name == "scaled":
            url, broker = stack.enter_context(postgres()), stack.enter_context(redis())
            if url is None or broker is None:
                return None
            settings |= {"AQA_DATABASE_URL": url, "AQA_BROKER_URL": f"{broker}/0", "AQA_EMBEDDED_WORKER": "no",
                         "AQA_RATE_LIMIT_STORAGE": f"{broker}/1"}  # fmt: skip
        token = prepare(Settings(data_dir=folder, database_url=str(settings.get("AQA_DATABASE_URL", ""))))
        parts = {"web": Process(*AQA, "serve", **settings)}
        if name == "scaled":
            parts["worker"] = Process(*AQA, "worker", **settings)
        stack.enter_context(running(*parts.values()))
        parts["web"].answers(port)
        requests = mixed(token, port)
        load(port, requests, 2, 1.0)
        before, begun = {part: each.processor for part, each in parts.items()}, time.perf_counter()
        times = load(port, requests, USERS, seconds)
        wall = time.perf_counter() - begun
        return {
            "requests_per_s": round(times.rate, 1),
            "kinds": times.table(),
            "memory_mib": {part: round(each.memory) for part, each in parts.items()},
            "cores_used": {part: round((each.processor - before[part]) / wall, 2) for part, each in parts.items()},
            "saturation": saturation(port, {k: v for k, v in requests.items() if k != "upload"}, seconds / 4),
        }


def saturation(port: int, requests: dict[str, tuple[float, Request]], seconds: float) -> dict[str, float]:
    """Requests/s of the reading kinds by how many users send them."""
    return {str(users): round(load(port, requests, users, seconds).rate, 1) for users in (1, 10, USERS)}


def main() -> None:
    """Measure and print; with `--json` the results are one JSON object, last."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the results as one JSON object, last")
    parser.add_argument("--seconds", type=float, default=8.0, help="of each run under 50 users")
    parser.add_argument("--only", action="append", choices=["board_json", "two_workers", "embedded", "scaled"])
    chosen = parser.parse_args()
    parts: dict[str, Callable[[], Any]] = {
        "board_json": lambda: board_json(chosen.seconds / 3),
        "two_workers": two_workers,
        "embedded": lambda: under_load("embedded", chosen.seconds),
        "scaled": lambda: under_load("scaled", chosen.seconds),
    }
    found = {}
    for key in chosen.only or parts:
        begun = time.perf_counter()
        found[key] = parts[key]()
        print(f"{key} ({time.perf_counter() - begun:.0f} s): {json.dumps(found[key])}", file=sys.stderr)
    if chosen.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
