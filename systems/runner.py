"""Runs a system over questions: each output is kept as it comes, so a stopped run goes on where it was."""

from __future__ import annotations

import itertools
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from core.errors import Conflict, Unavailable
from core.records import Question
from core.text import hash_key
from systems.records import System

OUTPUTS = "outputs.jsonl"
COMPLETE, OUT_OF_TIME, OUT_OF_TOKENS = "complete", "out of time", "out of tokens"


@dataclass(frozen=True)
class Budget:
    """What a run may spend over all its attempts; None means no bound."""

    seconds: float | None = None
    tokens: int | None = None


@dataclass
class Run:
    """What a run has come to. `outputs` are those of systems as they are kept, without their traces: `position` and
    `answer` and `passage_id`, or `text` and `report`; `flags` counts remarks in traces."""

    outputs: list[dict[str, Any]] = field(default_factory=list)
    ended: str = COMPLETE
    seconds: float = 0.0
    prompt_tokens: int = 0
    new_tokens: int = 0
    cost: float | None = None
    flags: Counter[str] = field(default_factory=Counter)
    resumed: int = 0
    """How many outputs an earlier attempt had left."""

    @property
    def predictions(self) -> list[tuple[int, str, str | None]]:
        """Of answers to questions: (position, answer, passage id)."""
        return [(each["position"], each["answer"], each["passage_id"]) for each in self.outputs]

    def summary(self) -> dict[str, Any]:
        """The figures as JSON; an answer is attributed that has a passage, a revised text that has a report."""
        return {
            "ended": self.ended, "answered": len(self.outputs), "resumed": self.resumed,
            "attributed": sum(bool(each.get("report") or each.get("passage_id") is not None) for each in self.outputs),
            "seconds": round(self.seconds, 3), "prompt_tokens": self.prompt_tokens, "new_tokens": self.new_tokens,
            "cost": self.cost, "flags": dict(self.flags.most_common()),
        }  # fmt: skip

    def _take(self, line: dict[str, Any]) -> None:
        self.outputs.append({name: value for name, value in line.items() if name not in ("elapsed", "trace")})
        self.seconds = line["elapsed"]
        usage = line["trace"].get("usage", {})
        self.prompt_tokens += usage.get("prompt_tokens", 0)
        self.new_tokens += usage.get("new_tokens", 0)
        if usage.get("cost") is not None:
            self.cost = (self.cost or 0.0) + usage["cost"]
        self.flags.update(line["trace"].get("flags", ()))

    def _spent(self, budget: Budget) -> str | None:
        if budget.seconds is not None and self.seconds >= budget.seconds:
            return OUT_OF_TIME
        if budget.tokens is not None and self.prompt_tokens + self.new_tokens >= budget.tokens:
            return OUT_OF_TOKENS
        return None


def run(
    system: System,
    questions: Sequence[Question],
    folder: Path,
    budget: Budget = Budget(),
    progress: Callable[[Run, int], None] = lambda run, total: None,
) -> Run:
    """Answer all questions, or as many as the budget allows; outputs go to `folder/outputs.jsonl` one by one.

    What is there from an earlier attempt is kept. Raises `Conflict` if that was another system or other questions,
    and `Unavailable` while another process writes there, or where nothing can be written.
    """
    from filelock import FileLock, Timeout

    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / "lock", timeout=0):
            return _run(system, questions, folder / OUTPUTS, budget, progress)
    except Timeout:
        raise Unavailable("Another process is at work on this run.", "It will be tried again.") from None


def _run(
    system: System,
    questions: Sequence[Question],
    path: Path,
    budget: Budget,
    progress: Callable[[Run, int], None],
) -> Run:
    header = {"system": system.signature, "questions": _digest(questions)}
    state = Run()
    for line in _kept(path, header):
        state._take(line)
    state.resumed = len(state.outputs)
    progress(state, len(questions))
    ended = None if state.resumed == len(questions) else state._spent(budget)
    if state.resumed < len(questions) and ended is None:
        with path.open("ab") as file:
            ended = _go_on(system, questions, state, file, budget, lambda: progress(state, len(questions)))
    state.ended = COMPLETE if len(state.outputs) == len(questions) else ended or COMPLETE
    return state


def _go_on(
    system: System,
    questions: Sequence[Question],
    state: Run,
    file: BinaryIO,
    budget: Budget,
    progress: Callable[[], None],
) -> str | None:
    """Answer what is left, in the batches of a run that was never stopped, since a batch can move a near-tie.

    So a batch that a kill tore is answered again whole, and a budget ends the run between batches: what a batch has
    cost is spent by then, and its answers are kept.
    """
    begun, before = time.monotonic(), state.seconds
    start = state.resumed - state.resumed % system.batch
    for output in itertools.islice(system.answer(questions[start:]), state.resumed - start, None):
        line = {
            "position": output.position, **output.fields,
            "elapsed": before + time.monotonic() - begun, "trace": output.trace,
        }  # fmt: skip
        _append(file, line)
        state._take(line)
        progress()
        if len(state.outputs) % system.batch == 0 and (ended := state._spent(budget)):
            return ended
    os.fsync(file.fileno())
    return None


def _append(file: BinaryIO, line: dict[str, Any]) -> None:
    try:
        file.write(orjson.dumps(line) + b"\n")
        file.flush()
    except OSError as error:
        raise Unavailable(
            f"An output could not be written to {file.name}: {error.strerror}.",
            "Make room and resume the run; what it had answered is kept.",
        ) from error


def _kept(path: Path, header: dict[str, str]) -> list[dict[str, Any]]:
    """The outputs that are there whole; what a kill or a power cut tore off at the end is cut away."""
    lines = path.read_bytes().split(b"\n") if path.is_file() else []
    found = _parsed(lines[0]) if len(lines) > 1 else None
    if found is None:
        path.write_bytes(orjson.dumps(header) + b"\n")
        return []
    if found != header:
        raise Conflict(
            "What this run had answered came from another system, other models or other questions.", "Start a new run."
        )
    whole = list(itertools.takewhile(lambda line: line is not None, map(_parsed, lines[1:-1])))
    with path.open("r+b") as file:
        file.truncate(sum(len(line) + 1 for line in lines[: 1 + len(whole)]))
    return [line for line in whole if line is not None]


def _parsed(line: bytes) -> dict[str, Any] | None:
    """The object in a line; None where it is none."""
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _digest(questions: Sequence[Question]) -> str:
    parts = ((str(each.position), each.text, *each.context) for each in questions)
    return hash_key(*(part for some in parts for part in some)).hex()
