"""The runner: outputs kept as they come, torn lines, other plans, budgets."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import pytest

from core.errors import Conflict, Unavailable
from core.records import Question
from systems import runner
from systems.records import Output
from systems.runner import COMPLETE, OUT_OF_TIME, OUT_OF_TOKENS, Budget, run

QUESTIONS = [Question(at, f"q{at}", f"question {at}", ()) for at in range(10)]


class Counting:
    """Answers with the position; stops with an error before a given one; counts what it was asked."""

    key, architecture = "counting", "other"

    def __init__(self, signature: str = "counting@1", stop_before: int = 99, batch: int = 1) -> None:
        self.signature = signature
        self.stop_before = stop_before
        self.batch = batch
        self.asked: list[int] = []

    def answer(self, questions: Sequence[Question]) -> Iterator[Output]:
        for question in questions:
            if question.position == self.stop_before:
                raise RuntimeError("the power went")
            self.asked.append(question.position)
            trace = {"usage": {"prompt_tokens": 8, "new_tokens": 2, "cost": 0.25}}
            flags = {"flags": ["odd"]} if question.position % 2 else {}
            yield Output(
                question.position, f"a{question.position}", None if question.position == 3 else "p", trace | flags
            )


def test_a_whole_run(tmp_path: Path) -> None:
    seen: list[int] = []
    done = run(Counting(), QUESTIONS, tmp_path, progress=lambda state, total: seen.append(len(state.predictions)))
    assert done.predictions == [(at, f"a{at}", None if at == 3 else "p") for at in range(10)]
    assert done.ended == COMPLETE
    assert done.summary() | {"seconds": 0} == {
        "ended": "complete", "answered": 10, "resumed": 0, "attributed": 9, "seconds": 0, "prompt_tokens": 80,
        "new_tokens": 20, "cost": 2.5, "flags": {"odd": 5},
    }  # fmt: skip
    assert seen == list(range(11))


def test_a_stopped_run_goes_on(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        run(Counting(stop_before=6), QUESTIONS, tmp_path)
    again = Counting()
    done = run(again, QUESTIONS, tmp_path)
    assert again.asked == [6, 7, 8, 9]
    assert done.resumed == 6
    assert done.predictions == run(Counting(), QUESTIONS, tmp_path / "other").predictions
    assert done.summary()["prompt_tokens"] == 80
    finished = Counting()
    assert run(finished, QUESTIONS, tmp_path).predictions == done.predictions
    assert finished.asked == []


@pytest.mark.parametrize("torn", [b'{"position":6,"ans', b"\x00\x00", b"{"])
def test_a_torn_line_is_cut_away(tmp_path: Path, torn: bytes) -> None:
    with pytest.raises(RuntimeError):
        run(Counting(stop_before=6), QUESTIONS, tmp_path)
    with (tmp_path / "outputs.jsonl").open("ab") as file:
        file.write(torn)
    assert len(run(Counting(), QUESTIONS, tmp_path).predictions) == 10
    lines = (tmp_path / "outputs.jsonl").read_text().splitlines()
    assert [json.loads(line)["position"] for line in lines[1:]] == list(range(10))


def test_a_torn_header_starts_anew(tmp_path: Path) -> None:
    (tmp_path / "outputs.jsonl").write_bytes(b'{"system":"coun')
    assert len(run(Counting(), QUESTIONS, tmp_path).predictions) == 10


def test_answers_of_another_system_are_not_taken(tmp_path: Path) -> None:
    run(Counting(), QUESTIONS, tmp_path)
    with pytest.raises(Conflict):
        run(Counting("counting@2"), QUESTIONS, tmp_path)
    with pytest.raises(Conflict):
        run(Counting(), QUESTIONS[:5], tmp_path)


def test_tokens_are_bounded_over_all_attempts(tmp_path: Path) -> None:
    part = run(Counting(), QUESTIONS, tmp_path, Budget(tokens=35))
    assert (part.ended, len(part.predictions)) == (OUT_OF_TOKENS, 4)
    again = Counting()
    assert run(again, QUESTIONS, tmp_path, Budget(tokens=35)).ended == OUT_OF_TOKENS
    assert again.asked == []
    assert run(again, QUESTIONS, tmp_path, Budget(tokens=1_000)).ended == COMPLETE
    assert again.asked == [4, 5, 6, 7, 8, 9]


def test_time_is_bounded(tmp_path: Path) -> None:
    part = run(Counting(), QUESTIONS, tmp_path, Budget(seconds=0.0))
    assert (part.ended, part.predictions) == (OUT_OF_TIME, [])
    slow = run(Counting(), QUESTIONS, tmp_path, Budget(seconds=1e-9))
    assert (slow.ended, len(slow.predictions)) == (OUT_OF_TIME, 1)


def test_two_processes_never_write_one_run(tmp_path: Path) -> None:
    from filelock import FileLock

    with FileLock(tmp_path / "lock"), pytest.raises(Unavailable):
        run(Counting(), QUESTIONS, tmp_path)


def test_a_torn_batch_is_answered_again_whole(tmp_path: Path) -> None:
    """A batch can move a near-tie, so a resumed run has the batches of one that was never stopped."""
    with pytest.raises(RuntimeError):
        run(Counting(stop_before=6, batch=4), QUESTIONS, tmp_path)
    again = Counting(batch=4)
    done = run(again, QUESTIONS, tmp_path)
    assert again.asked == [4, 5, 6, 7, 8, 9]
    assert done.predictions == run(Counting(), QUESTIONS, tmp_path / "other").predictions
    assert done.summary()["prompt_tokens"] == 80


def test_a_budget_ends_a_run_between_batches(tmp_path: Path) -> None:
    """What a batch has cost is spent when its first answer comes, so all of its answers are kept."""
    part = run(Counting(batch=4), QUESTIONS, tmp_path, Budget(tokens=1))
    assert (part.ended, len(part.predictions)) == (OUT_OF_TOKENS, 4)
    assert run(Counting(batch=4), QUESTIONS, tmp_path, Budget(tokens=50)).ended == OUT_OF_TOKENS
    assert run(Counting(batch=4), QUESTIONS, tmp_path).ended == COMPLETE


@pytest.mark.parametrize("damage", [b"\0" * 40 + b"\n", b"[1]\n", b'{"position":6,"ans\n{"x"\n'])
def test_what_a_power_cut_spoilt_is_answered_again(tmp_path: Path, damage: bytes) -> None:
    with pytest.raises(RuntimeError):
        run(Counting(stop_before=6), QUESTIONS, tmp_path)
    with (tmp_path / "outputs.jsonl").open("ab") as file:
        file.write(damage)
    again = Counting()
    assert run(again, QUESTIONS, tmp_path).predictions == run(Counting(), QUESTIONS, tmp_path / "o").predictions
    assert again.asked == [6, 7, 8, 9]


def test_a_spoilt_header_starts_anew(tmp_path: Path) -> None:
    (tmp_path / "outputs.jsonl").write_bytes(b"\0\0\n" + b'{"position":0}\n')
    assert run(Counting(), QUESTIONS, tmp_path).resumed == 0


def test_a_full_disk_is_told_and_the_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        name = "outputs.jsonl"

        def __init__(self, real: BinaryIO) -> None:
            self.real, self.left = real, 3

        def __getattr__(self, name: str) -> object:
            return getattr(self.real, name)

        def write(self, data: bytes) -> int:
            self.left -= 1
            if self.left < 0:
                self.real.write(data[:5])
                raise OSError(errno.ENOSPC, "No space left on device")
            return self.real.write(data)

    real = runner._append
    held: list[Full] = []

    def append(file: BinaryIO, line: dict[str, object]) -> None:
        held[:] = held or [Full(file)]
        real(held[0], line)

    with monkeypatch.context() as patched:
        patched.setattr(runner, "_append", append)
        with pytest.raises(Unavailable, match="No space left") as caught:
            run(Counting(), QUESTIONS, tmp_path)
    assert "resume" in caught.value.hint
    again = Counting()
    assert len(run(again, QUESTIONS, tmp_path).predictions) == 10
    assert again.asked == list(range(3, 10))
