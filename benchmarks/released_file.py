"""A made-up file of the shape and size of the paper's released ratings: 83,030 rows, some with the usual oddities."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterator
from pathlib import Path

from submissions.released import COLUMNS

NAMES = (
    *(f"RTR-{at}" for at in range(1, 13)),
    *(f"Post-{at}" for at in range(1, 7)),
    "RTR-10-rerank",
    "Post-6-rerank",
    "Low-resource",
    "LLM-as-retriever-1",
    "LLM-as-retriever-2",
)
_CANDIDATES = 8
_WORDS = 118


def write(folder: Path, questions: int = 3_610, rated: int = 1_000, seed: int = 1) -> tuple[Path, Path]:
    """Write `ratings.csv` and `questions.jsonl`; returns their paths. Nothing in them is from the real release."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdefghijklmnoprstuvw", k=rng.randint(2, 9))) for _ in range(5_000)]
    rated_questions = set(rng.sample(range(questions), rated))
    ratings, plain = folder / "ratings.csv", folder / "questions.jsonl"
    with plain.open("w", encoding="utf-8") as file:
        for at in range(questions):
            file.write(json.dumps({"question": _question(at), "answer": [f"answer {at} 0"]}) + "\n")
    with ratings.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for system, name in enumerate(NAMES):
            writer.writerows(_rows(name, system, questions, rated_questions, words, seed))
    return ratings, plain


def _rows(
    name: str, system: int, questions: int, rated: set[int], words: list[str], seed: int
) -> Iterator[tuple[object, ...]]:
    rng = random.Random(f"{seed} {system}")
    quality = 0.2 + 0.6 * system / len(NAMES)
    for at in range(questions):
        candidate = 0 if rng.random() < quality else rng.randrange(1, _CANDIDATES)
        answer = f"answer {at} {candidate}"
        if (at + system) % 1_500 == 7:
            yield name, _question(at), answer, "", "", "N" if at in rated else "", "N", ""
            continue
        identifier, passage = _passage(at, candidate, words, seed)
        score = random.Random(f"{seed} score {at} {candidate}").random()
        human = "" if at not in rated else "Y" if (candidate == 0) == (score > 0.1) else "N"
        yield name, _question(at), answer, identifier, passage, human, "Y" if score >= 0.5 else "N", f"{score:.7g}"


def _passage(at: int, candidate: int, words: list[str], seed: int) -> tuple[str, str]:
    rng = random.Random(f"{seed} passage {at} {candidate}")
    title = f"Page {at} {candidate}"
    text = " ".join(rng.choices(words, k=_WORDS))
    quoted = f'he said "{text[:20]}" and {text}' if candidate == 2 else text
    return (
        f"http://en.wikipedia.org/wiki/{title}#{title}#History#{candidate}",
        f"Title: {title}\nSection: History\n\n{quoted}",
    )


def _question(at: int) -> str:
    return f"what is the made up thing number {at}"
