"""1,000 systems of 3,610 predictions each into the database, on SQLite and PostgreSQL.

`predictions`: rows/s of the intake's bulk insert, one transaction per system, against SQLAlchemy's insert of the same
    rows; `whole` is the making of the whole generated world: predictions, scores with intervals, values per question.
Each database is filled by a process of its own, whose peak memory is told. PostgreSQL is left out where none answers.
"""

from __future__ import annotations

import argparse
import json
import resource
import secrets
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sqlalchemy import func, insert, select, text

from benchmarks.board_world import World, generate
from benchmarks.load_parts import postgres
from core.bulk import insert_rows
from core.database import Database
from core.settings import Settings
from core.tables import PredictionRow, Submission, System
from leaderboard import board
from server.bootstrap import build

SYSTEMS, QUESTIONS, COMPARED = 1_000, 3_610, 20
_COLUMNS = ("submission_id", "position", "answer", "attribution", "passage_id")


def measure(url: str, folder: str, systems: int) -> dict[str, Any]:
    """Fill one database and look at its board."""
    services = build(Settings(data_dir=folder, database_url=url, embedded_worker=False))
    database = services.database
    database.upgrade()
    world = World(systems=systems, questions=QUESTIONS, rated=1_000, resamples=499)
    begun = time.perf_counter()
    generate(database, Path(folder), world)
    whole = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    begun = time.perf_counter()
    with database.reading() as session:
        shown = len(board.rows(session, world.benchmark_id).rows)
        first = time.perf_counter() - begun
        stored = session.scalar(select(func.count()).select_from(PredictionRow))
        size = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
        size = size if database.is_sqlite else "SELECT pg_database_size(current_database())"
        held = session.execute(text(size)).scalar_one()
    ours, theirs = (_rows_per_second(database, way) for way in ("copy", "insert"))
    database.engine.dispose()
    rates = {"ratio": round(ours / theirs, 2), "ours": round(ours), "theirs": round(theirs), "unit": "rows/s"}
    return {
        "predictions": rates,
        "whole": {"systems": shown, "predictions": stored, "seconds": round(whole, 1), "peak_mib": round(peak),
                  "database_mib": round(held / 2**20), "board_s": round(first, 2)},
    }  # fmt: skip


def _rows_per_second(database: Database, way: str) -> float:
    page = "http://en.wikipedia.org/wiki/Invention_{0}#Invention_{0}#Part_1#1"
    begun = time.perf_counter()
    for _ in range(COMPARED):
        with database.transaction() as session:
            made = _submission(session)
            rows = [(made, n, f"Doctor Maker {n}", page.format(n), page.format(n)) for n in range(QUESTIONS)]
            if way == "copy":
                insert_rows(session, PredictionRow, _COLUMNS, rows)
            else:
                session.execute(insert(PredictionRow), [dict(zip(_COLUMNS, row, strict=True)) for row in rows])
    return COMPARED * QUESTIONS / (time.perf_counter() - begun)


def _submission(session: Any) -> str:
    system = session.scalars(select(System).limit(1)).one()
    version = (session.scalar(select(func.max(Submission.version))) or 0) + 1
    made = Submission(
        id=secrets.token_hex(6), system_id=system.id, benchmark_id="generated", version=version, file_blob="0" * 64,
        digest=secrets.token_hex(32), file_name="generated.csv", report={}, coverage=1.0,
    )  # fmt: skip
    session.add(made)
    session.flush()
    return made.id


def main() -> None:
    """Measure each database in a process of its own and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the results as one JSON object, last")
    parser.add_argument("--systems", type=int, default=SYSTEMS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="aqa-bulk-") as folder:
        if chosen.url:
            print(json.dumps(measure(chosen.url, folder, chosen.systems)))
            return
        found = {"sqlite": _apart(f"sqlite:///{folder}/aqa.sqlite", chosen.systems)}
        with postgres() as url:
            if url is not None:
                found["postgresql"] = _apart(url, chosen.systems)
    if chosen.json:
        print(json.dumps(found))


def _apart(url: str, systems: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.bulk", "--url", url, "--systems", str(systems)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    print(url.split(":")[0], told.strip(), file=sys.stderr)
    return dict(json.loads(told.splitlines()[-1]))


if __name__ == "__main__":
    main()
