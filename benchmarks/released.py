"""Time and memory to import a file of the size of the paper's released ratings, scores and intervals included.

`theirs` is what the import is allowed: 60 seconds and 1 GiB on two cores.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.released_file import NAMES, write

SECONDS, MEBIBYTES = 60.0, 1024.0


def measure(folder: Path) -> dict[str, dict[str, object]]:
    """Import into a fresh SQLite database and evaluate everything; checks that it is all there."""
    from core.settings import Settings
    from server.bootstrap import build
    from server.released import import_released
    from server.worker import Worker

    ratings, questions = write(folder)
    size = ratings.stat().st_size
    services = build(Settings(data_dir=str(folder / "data"), database_url=""))
    services.database.ensure_current()
    begin, busy = time.perf_counter(), time.process_time()
    done = import_released(services, ratings, "released", questions=questions)
    stored = time.perf_counter() - begin
    evaluated = Worker(services).run_until_idle()
    took = time.perf_counter() - begin
    busy = time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if evaluated != len(NAMES) or done.report.counts["rows"] != len(NAMES) * 3_610:
        raise SystemExit(f"{evaluated} systems of {done.report.counts['rows']} rows: not the whole file")
    print(
        f"{done.report.counts['rows']:,} rows, {size / 1e6:.1f} MB: stored in {stored:.1f} s, "
        f"{evaluated} systems scored in {took - stored:.1f} s, "
        f"{busy:.1f} s of processor time, peak {peak:.0f} MiB",
        file=sys.stderr,
    )
    return {
        "released_import": {"ratio": SECONDS / took, "ours": took, "theirs": SECONDS, "unit": "s"},
        "released_memory": {"ratio": MEBIBYTES / peak, "ours": peak, "theirs": MEBIBYTES, "unit": "MiB"},
    }


def main() -> None:
    """Print the figures; with `--json` the last line is one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder))
    if as_json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
