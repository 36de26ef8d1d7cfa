"""One large submission judged by one worker process, and by two."""

from __future__ import annotations

import io
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.board_world import World, answer_file, generate
from benchmarks.load_parts import Process, running
from core.settings import Settings
from core.tables import Submission, Team
from server.bootstrap import build
from submissions.intake import SystemCard

WORLD = World(systems=0, questions=3_610, rated=100)
_PINNED = "import os; os.sched_setaffinity(0, {{{core}}}); from server.cli import main; main()"


def two_workers(judge: str = "small") -> dict[str, Any]:
    """Seconds from the file to its scores with one worker over those with two; each worker has a core of its own."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        return {"ratio": None, "reason": "There is one core only."}
    one, two = _seconds(judge, cores[:1]), _seconds(judge, cores[:2])
    return {
        "ratio": round(one["wall"] / two["wall"], 2), "ours": round(two["wall"], 2), "theirs": round(one["wall"], 2),
        "unit": "s", "pairs": WORLD.questions, "judge": judge, "chunks": two["chunks"],
        "processor_s": [round(one["processor"], 1), round(two["processor"], 1)],
    }  # fmt: skip


def _seconds(judge: str, cores: list[int]) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="aqa-load-") as folder:
        settings = Settings(data_dir=folder, embedded_worker=False, submissions_per_day=0, judge=judge)
        services = build(settings)
        services.database.ensure_current()
        generate(services.database, Path(folder), WORLD)
        with services.database.transaction() as session:
            team = Team(name="load")
            session.add(team)
        environment = {"AQA_DATA_DIR": folder, "AQA_JUDGE": judge, "AQA_POLL_SECONDS": 0.05, "OMP_NUM_THREADS": 1,
                       "OPENBLAS_NUM_THREADS": 1, "MKL_NUM_THREADS": 1}  # fmt: skip
        workers = [Process("-c", _PINNED.format(core=core), "worker", **environment) for core in cores]
        with running(*workers):
            for worker in workers:
                worker.says("Worker serves")
            before = sum(worker.processor for worker in workers)
            data, begun = io.BytesIO(answer_file(WORLD, 1)), time.perf_counter()
            sent = services.intake.accept(team.id, WORLD.benchmark_id, SystemCard("large"), data, "large.jsonl")
            while (state := _state(services, sent.id)) != "scored":
                if state == "failed" or time.perf_counter() - begun > 600:
                    raise SystemExit(f"the submission is {state}")
                time.sleep(0.02)
            wall = time.perf_counter() - begun
            processor = sum(worker.processor for worker in workers) - before
        chunks = -(-WORLD.questions // settings.fanout_pairs)
        services.database.engine.dispose()
        return {"wall": wall, "processor": processor, "chunks": chunks}


def _state(services: Any, submission_id: str) -> str:
    with services.database.reading() as session:
        return str(session.get_one(Submission, submission_id).state)
