"""A benchmark, a slow judge and workers that die at a chosen point, for the fault runs."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import scorer.evaluate
import scorer.judgments
import scorer.qa_track
from core.benchmark import NewBenchmark
from core.records import Judgment, Pair
from core.settings import Settings
from core.tables import Submission
from server.bootstrap import Services, build
from server.worker import Worker
from submissions.intake import SystemCard
from tests.small_benchmark import add_team

QUESTIONS = 60
POINTS = ("claiming", "reading", "judging", "writing judgments", "writing scores", "finishing", "announcing")


class SlowJudge:
    """A probability that hangs on the pair alone, at 2 ms a pair; may kill its process amid a chunk."""

    key, title, help, score_name = "slow", "Slow", "For fault runs.", "test score"
    signature = "judge:slow@1"

    def __init__(self, pause: float = 0.002) -> None:
        self._pause = pause
        self.strike: Callable[[], None] = lambda: None

    def judge(self, pairs: list[Pair]) -> list[Judgment]:
        judged = []
        for pair in pairs:
            digest = hashlib.blake2b(f"{pair.premise}|{pair.hypothesis}".encode(), digest_size=8).digest()
            judged.append(Judgment(int.from_bytes(digest, "big") / 2**64, "1"))
            time.sleep(self._pause)
            self.strike()
        return judged


def open_services(settings: Settings, judge: SlowJudge | None = None) -> Services:
    """Services whose judge is the slow one."""
    services = build(settings)
    services.__dict__["scorer"] = services.scorer_with(judge or SlowJudge())
    return services


def add_questions(services: Services, folder: Path) -> None:
    """The benchmark `faults`: 60 questions, half of them rated."""
    folder.mkdir(parents=True, exist_ok=True)
    questions, corpus, rated = folder / "q.jsonl", folder / "c.jsonl", folder / "r.txt"
    numbers = range(QUESTIONS)
    questions.write_text(
        "".join(
            json.dumps({"id": f"q{n}", "question": f"what is number {n}", "answer": [f"n{n}"]}) + "\n" for n in numbers
        )
    )
    corpus.write_text(
        "".join(
            json.dumps({"id": f"p{n}", "contents": f"« Page {n} » « Page {n} » This is number n{n}."}) + "\n"
            for n in numbers
        )
    )
    rated.write_text("".join(f"q{n}\n" for n in numbers if n % 2))
    services.benchmarks.add(NewBenchmark("faults", questions, [corpus], rated))


def submit(services: Services, team: int, number: int) -> Submission:
    """The answers of system `number`: some right, some wrong, no two systems' alike."""
    draw = random.Random(number)
    rows = [
        {
            "question": f"what is number {n}",
            "answer": f"n{n}" if draw.random() < 0.5 else f"wrong {number} {n}",
            "attribution": f"p{n if draw.random() < 0.7 else (n + 1) % QUESTIONS}",
        }
        for n in range(QUESTIONS)
    ]
    data = io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode())
    return services.intake.accept(team, "faults", SystemCard(f"system {number}"), data, "p.jsonl")


def work(settings: Settings) -> None:
    """A worker that runs until it is killed; for a forked process."""
    Worker(open_services(settings)).run()


def die_at(settings: Settings, point: str, call: int) -> None:
    """A worker that gets SIGKILL at the `call`-th time it comes to a point; for a forked process."""
    judge = SlowJudge()
    services = open_services(settings, judge)
    left = [call]

    def strike() -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def before(owner: Any, name: str) -> None:
        plain = getattr(owner, name)
        setattr(owner, name, lambda *given, **named: (strike(), plain(*given, **named))[1])

    def after(owner: Any, name: str) -> None:
        plain = getattr(owner, name)
        setattr(owner, name, lambda *given, **named: (plain(*given, **named), strike())[0])

    match point:
        case "claiming":
            after(services.queue, "claim")
        case "reading":
            before(scorer.qa_track, "read_predictions")
        case "judging":
            judge.strike = strike
        case "writing judgments":
            after(scorer.judgments, "store")
        case "writing scores":
            after(scorer.evaluate, "store")
        case "finishing":
            after(services.queue, "finish")
        case "announcing":
            before(services.queue, "_announce")
    Worker(services).run()


def stubborn() -> None:
    """A worker, under a broker or without, whose judge takes a minute for a pair; settings from the environment."""
    from server import crew, engine

    for way in (crew, engine):
        way.build = lambda settings: open_services(settings, SlowJudge(60.0))  # type: ignore[attr-defined]
    settings = Settings.from_environment()
    (engine if settings.broker_url else crew).serve(settings, ["cpu"], 1)


def undisturbed(folder: Path, count: int) -> Services:
    """The same systems, on SQLite, scored by one worker that nothing befalls, each in one go."""
    settings = Settings(data_dir=str(folder), bootstrap_resamples=499, submissions_per_day=0, fanout_pairs=0)
    services = open_services(settings, SlowJudge(0.0))
    services.database.ensure_current()
    add_questions(services, folder / "files")
    team = add_team(services)
    for number in range(count):
        submit(services, team, number)
    Worker(services).run_until_idle()
    return services
