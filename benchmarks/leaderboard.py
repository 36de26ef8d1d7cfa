"""The leaderboard with 300 systems and 3,610 questions, against a page that recomputes everything from its rows.

`board_rows`: our board from the database, nothing kept, with intervals and rank intervals, against reading every
    prediction and working EM, F1, AutoAIS and AIS out again, without any interval or rank.
`first_table`: from navigation to the table in headless Chromium, boards kept, against a page of the naive way, a bare
    table without styles or scripts. Left out where there is no Chromium.
`filter_in_server`: one filtered and sorted table as HTML, boards kept, against 100 ms.
`filter_in_browser`, `sort_in_browser`, `example_in_browser`: one interaction in Chromium by the page's own clock, from
    the event to the frame that shows its result, warmed, median of 10, against 500, 500 and 300 ms.
`example_page`: from navigation to an example, the browser's cache warm, median of 10, against 300 ms.
Nothing is asserted; how busy the machine is says the load average that is printed first.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import select

from benchmarks.board_browser import interactions, middle, visits
from benchmarks.board_world import World, generate
from core.records import Item, Prediction, Question
from core.settings import Settings
from core.tables import EvaluationRow, PredictionRow, QuestionRow, Submission
from leaderboard import board
from leaderboard.cache import Boards
from leaderboard.pages.board_html import board_html
from leaderboard.records import Board
from leaderboard.view import View
from scorer import metrics
from scorer.stored import read_values
from server.bootstrap import Services, build

CHROMIUM = Path("/usr/bin/chromium")
WORLD = World(systems=300, questions=3_610, rated=1_000, partial=frozenset({3}), resamples=999)
RUNS = 5
LIMITS = {"filter_in_browser": 0.5, "sort_in_browser": 0.5, "example_in_browser": 0.3, "example_page": 0.3}
"""Seconds that nobody should wait longer."""


def timed(call: Callable[[], Any]) -> float:
    """Seconds of wall time."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def ours(services: Services) -> Board:
    """The board as the API gives it."""
    with services.database.reading() as session:
        return board.rows(session, WORLD.benchmark_id)


def naive(services: Services) -> list[tuple[Any, ...]]:
    """Means of every system, worked out again from its rows."""
    em, f1 = metrics.load("em"), metrics.load("f1")
    table = []
    with services.database.reading() as session:
        questions = [
            Question(q.position, q.id, q.text, tuple(q.references), q.rated)
            for q in session.scalars(select(QuestionRow).where(QuestionRow.benchmark_id == WORLD.benchmark_id))
        ]
        for submission in session.scalars(select(Submission).join(EvaluationRow)):
            query = select(PredictionRow).where(PredictionRow.submission_id == submission.id)
            given = {p.position: Prediction(p.position, p.answer, p.attribution, p.passage_id)
                     for p in session.scalars(query)}  # fmt: skip
            items = [Item(q, given.get(q.position)) for q in questions]
            means = [statistics.fmean(metric.measure(items).values) for metric in (em, f1)]
            for key in ("autoais", "ais"):
                values = [v for v in read_values(session, submission.evaluation_id or 0, key) if v == v]
                means.append(statistics.fmean(values))
            table.append((submission.id, *means))
            session.expunge_all()
    return table


@contextmanager
def serving(services: Services, took: list[float]) -> Iterator[str]:
    """The service, and the naive page at /naive, on a free port; `took` gets the seconds of its reckoning."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import HTMLResponse
    from starlette.routing import Mount, Route

    from server.app import create

    def page(_request: Request) -> HTMLResponse:
        start = time.perf_counter()
        rows = naive(services)
        took.append(time.perf_counter() - start)
        cells = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
        return HTMLResponse(f"<table class=board><tbody>{cells}</tbody></table>")

    app = Starlette(routes=[Route("/naive", page), Mount("/", create(services))])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(20)


def in_chromium(services: Services, took: list[float]) -> dict[str, Any]:
    """What visitors wait for; our first table is the median of several visits, after one that fills the caches."""
    from playwright.sync_api import sync_playwright

    with serving(services, took) as url, sync_playwright() as playwright:
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)

        def visit(path: str) -> float:
            page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            page.set_default_timeout(300_000)

            def look() -> None:
                page.goto(url + path)
                page.wait_for_selector("table.board tbody tr:nth-child(3)")

            seconds = timed(look)
            page.context.close()
            return seconds

        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.set_default_timeout(300_000)
        times = interactions(page, url) | {
            "example_page": visits(page, f"{url}/leaderboard/examples?question=7", "#example .given")
        }
        page.context.close()
        browsed = {key: ratio(middle(each), LIMITS[key]) for key, each in times.items()}
        visit("/leaderboard/")
        own = statistics.median(visit("/leaderboard/") for _ in range(RUNS))
        return {"first_table": ratio(own, visit("/naive")), **browsed}


def ratio(own: float, theirs: float) -> dict[str, Any]:
    """One result: how many times faster ours is."""
    return {"ratio": round(theirs / own, 2), "ours": round(own, 4), "theirs": round(theirs, 4), "unit": "s"}


def measure(services: Services) -> dict[str, Any]:
    """All results."""
    ours(services)
    own = statistics.median(timed(lambda: ours(services)) for _ in range(RUNS))
    took: list[float] = []
    found = {}
    boards = Boards(services.database)
    view = View(WORLD.benchmark_id, q="team:1", sort="em")
    board_html(boards.get(WORLD.benchmark_id), view)
    server = statistics.median(timed(lambda: board_html(boards.get(WORLD.benchmark_id), view)) for _ in range(RUNS))
    found["filter_in_server"] = ratio(server, 0.1)
    if CHROMIUM.exists():
        found |= in_chromium(services, took)
    else:
        took.append(timed(lambda: naive(services)))
    return {"board_rows": ratio(own, took[0]), **found}


def main() -> None:
    """Make a database, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the results as one JSON object, last")
    chosen = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        services = build(Settings(data_dir=folder, embedded_worker=False))
        services.database.ensure_current()
        seconds = timed(lambda: generate(services.database, Path(folder), WORLD))
        print(f"generated {WORLD.systems} systems in {seconds:.0f} s", file=sys.stderr)
        found = measure(services)
        services.database.engine.dispose()
    for key, each in found.items():
        print(f"{key}: {each['ours']} s against {each['theirs']} s, {each['ratio']} times", file=sys.stderr)
    if chosen.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
