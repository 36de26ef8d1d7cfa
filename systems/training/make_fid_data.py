"""Retrieve passages for training questions: `python -m systems.training.make_fid_data --help`.

Writes what `systems.training.train_fid` reads. Passages come from a benchmark's corpus by the retriever (and reranker,
if it has one) of a system of the catalog, so that the reader is trained on what it will be given.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from core.batches import batches
from core.benchmark import Benchmarks
from core.benchmark_files import read_exemplars
from core.database import Database
from core.settings import Settings
from systems import catalog
from systems.parts import Parts
from systems.records import Reranker, Retriever
from systems.retrieval.store import IndexStore
from systems.training.script import run

_BATCH = 64


def examples(
    questions: Sequence[tuple[str, Sequence[str]]],
    retriever: Retriever,
    reranker: Reranker | None,
    retrieved: int,
    kept: int,
) -> Iterator[dict[str, Any]]:
    """An example per question, best passage first: `retrieved` are found and reranked, the first `kept` are written.

    A question without a hit gives none, since there is nothing to read.
    """
    for some in batches(questions, _BATCH):
        texts = [text for text, _ in some]
        hits = retriever.search(texts, retrieved)
        if reranker is not None:
            hits = reranker.rerank(texts, hits)
        for (text, answers), found in zip(some, hits, strict=True):
            passages = [hit.passage for hit in found[:kept]]
            if passages:
                told = [{"id": p.id, "title": p.title, "headings": p.headings, "text": p.text} for p in passages]
                yield {"question": text, "answers": list(answers), "passages": told}


def main() -> None:
    """Read the options and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--benchmark", required=True, help="whose corpus is searched; its own questions are refused")
    parser.add_argument("--system", required=True, help="whose retriever searches, RTR-4 for BM25")
    parser.add_argument("--questions", type=Path, required=True, help='JSONL of "question" and a list "answer"')
    parser.add_argument("--passages", type=int, default=50, help="passages written per question")
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args()
    settings = Settings.from_environment()
    database = Database(settings.resolved_database_url)
    benchmarks = Benchmarks(database, settings.data_path)
    benchmark = benchmarks.get(chosen.benchmark)
    questions = read_exemplars(chosen.questions, list(benchmark.questions))
    config = catalog.find(chosen.system)
    parts = Parts(benchmarks.corpus(benchmark), IndexStore(settings.data_path / "indexes"))
    depth = max(config.k, chosen.passages)
    rows = examples(questions, parts.retriever(config), parts.reranker(config), depth, chosen.passages)
    written = 0
    with chosen.out.open("wb") as file:
        for row in rows:
            file.write(orjson.dumps(row) + b"\n")
            written += 1
    print(f"{written:,} of {len(questions):,} questions have passages; they are in {chosen.out}")


if __name__ == "__main__":
    run(main)
