"""Predictions files joined to a benchmark."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

from core.records import Question
from submissions.formats import Accepted, Limits, read_predictions

QUESTIONS = [
    Question(0, "q1", "who wrote “Emma”", ("Jane Austen",)),
    Question(1, "q2", "when did it rain, again", ("N/A",)),
    Question(2, "q3", "what's the capital of France", ("Paris",)),
]
CORPUS = {"http://x#A#1", "http://x#B#2"}


def resolve(attributions: Sequence[str]) -> Mapping[str, str | None]:
    return {each: each if each in CORPUS else None for each in attributions}


def accept(data: bytes, name: str = "answers.csv") -> Accepted:
    return read_predictions(io.BytesIO(data), name, QUESTIONS, resolve, Limits())


def test_released_format() -> None:
    accepted = accept(
        b"question,answer,attribution\n"
        b'"when did it rain, again",N/A,http://x#A#1\n'
        b"what's the capital of France,007,nowhere\n"
    )
    assert accepted.report.fatal == ()
    assert [(p.position, p.answer, p.passage_id) for p in accepted.predictions] == [
        (1, "N/A", "http://x#A#1"),
        (2, "007", None),
    ]
    assert accepted.report.counts["missing_question"] == 1
    assert accepted.report.counts["unknown_attribution"] == 1
    assert accepted.coverage == 2 / 3
