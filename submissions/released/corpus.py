"""A corpus and a rated subset from the release itself, for a benchmark that has none yet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import orjson

from core.passage_text import parse_passage
from core.text import canonical_question, hash_key
from submissions.formats import Findings, excerpt
from submissions.released.rows import stream

FROM_RELEASE = "The corpus holds only the passages of the paper's released ratings (from release)."


@dataclass(frozen=True)
class FromRelease:
    """Files as `core.benchmark.NewBenchmark` takes them, and how many passages and rated questions they hold."""

    corpus: Path
    rated: Path
    passages: int
    rated_questions: int


def write_corpus(path: Path, folder: Path, questions: set[str], findings: Findings) -> FromRelease:
    """Stream the release's passages into a JSONL shard, and the questions with a human rating into a list.

    `questions` are the benchmark's, canonical; others are left out. Where one id comes with two texts the first is
    kept and the second reported. Memory grows with the number of different ids, not with their texts.
    """
    seen: dict[bytes, bytes] = {}
    rated: dict[str, None] = {}
    corpus, rated_file = folder / "corpus.jsonl", folder / "rated.txt"
    with corpus.open("wb") as shard:
        for row in stream(path, findings):
            question = canonical_question(row.question)
            if row.human is not None and question in questions:
                rated[question] = None
            if not row.attribution or not row.passage.strip():
                continue
            key, text = hash_key(row.attribution), hash_key(row.passage)
            if key not in seen:
                seen[key] = text
                shard.write(orjson.dumps({"id": row.attribution, "contents": _contents(row.passage)}) + b"\n")
            elif seen[key] != text:
                message = "This id came with another passage before; the first one is kept."
                findings.warn("passage_differs", message, row.row, excerpt(row.attribution))
    rated_file.write_text("".join(f"{question}\n" for question in rated), "utf-8")
    return FromRelease(corpus, rated_file, len(seen), len(rated))


def _contents(text: str) -> str:
    passage = parse_passage(text)
    return f"« {passage.title} » « {passage.headings} » {passage.text}"
