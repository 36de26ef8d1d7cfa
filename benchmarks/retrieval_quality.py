"""Retrieval on real questions: recall and answer containment of BM25 and MiniLM, and post-hoc attribution of the
answers of five real systems.

    python -m benchmarks.retrieval_quality --data ../shared/data --work FOLDER [--no-dense] [--judge small] [--json]

FOLDER keeps indexes, runs and judgments, so that a second call takes moments. Most pages of this corpus hold one
passage and the ids of some sources are made up, so recall is flattering and page-level figures mean little.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.benchmark import Benchmark, NewBenchmark
from core.errors import NotFound
from core.settings import Settings
from server import runs
from server.bootstrap import Services, build
from server.worker import Worker
from systems.architectures.choice import holds
from systems.records import Retriever
from systems.retrieval.bm25 import open_bm25
from systems.retrieval.dense import open_dense
from systems.retrieval.store import IndexStore

CUTS = (1, 5, 20, 50)
_WITHOUT = ("no answer to attribute", "no hit", "the chosen passage does not contain the answer")
"""Remarks on outputs whose passage does not contain the answer; one output has at most one of them."""
SYSTEMS = ("DPR", "EMDR2", "FiD", "FiD-KD", "R2D2")


def prepared(data: Path, work: Path) -> tuple[Services, Benchmark]:
    """Services on a database of their own in `work`, with the real questions and corpus."""
    services = build(Settings(data_dir=str(work), database_url=f"sqlite:///{work.absolute() / 'quality.sqlite'}"))
    services.database.ensure_current()
    try:
        return services, services.benchmarks.get("real")
    except NotFound:
        new = NewBenchmark("real", data / "nq_open" / "NQ-open.dev.jsonl", [data / "corpus" / "passages.jsonl"])
        return services, services.benchmarks.add(new)


def recall(retriever: Retriever, benchmark: Benchmark, gold: dict[str, set[str]], form: str) -> dict[str, Any]:
    """Shares of the questions with gold passages: one of them, or a passage with a reference, among the first k."""
    asked = [question for question in benchmark.questions if question.text in gold]
    queries = [q.text if form == "question" else f"{q.text} {q.references[0]}" for q in asked]
    found, holding = dict.fromkeys(CUTS, 0), dict.fromkeys(CUTS, 0)
    for question, hits in zip(asked, retriever.search(queries, max(CUTS)), strict=True):
        right = _first(hit.passage.id in gold[question.text] for hit in hits)
        contains = _first(any(holds(hit.passage, r) for r in question.references) for hit in hits)
        for cut in CUTS:
            found[cut] += right < cut
            holding[cut] += contains < cut
    share = {f"recall@{cut}": found[cut] / len(asked) for cut in CUTS}
    return {"n": len(asked), **share, **{f"contains@{cut}": holding[cut] / len(asked) for cut in CUTS}}


def gold_contains(services: Services, benchmark: Benchmark, gold: dict[str, set[str]]) -> float:
    """Share of the questions with gold passages of which one holds a reference: what containment could reach."""
    corpus, asked = services.benchmarks.corpus(benchmark), [q for q in benchmark.questions if q.text in gold]
    held = [
        any(holds(passage, r) for passage in corpus.passages(gold[q.text]).values() for r in q.references)
        for q in asked
    ]
    return sum(held) / len(held)


def attributed(services: Services, data: Path, judge: str) -> dict[str, dict[str, Any]]:
    """BM25 post-hoc attribution of each real system's answers as runs, with EM and the judge's score."""
    from scorer import judges
    from scorer.stored import read_predictions

    scorer = services.scorer_with(judges.load(judge))
    benchmark, found = services.benchmarks.get("real"), {}
    for name in SYSTEMS:
        file = data / "answers" / f"{name}.jsonl"
        identifier = _run_of(services, file) or runs.start(
            services, "Attribute-BM25", "real", runs.RunPlan({"answerer": f"answers:{file.absolute()}"})
        )
        while runs.get(services, identifier).state in ("queued", "running"):
            Worker(services).run_one()
        run = runs.get(services, identifier)
        with services.database.reading() as session:
            predictions = read_predictions(session, run.submission_id)
        scored = scorer.score(benchmark, predictions, _told(name))
        values = {key: score.value for key, score in scored.scores.items()}
        flags = run.details["flags"]
        found[name] = {
            "em": values["em"], judge: values["autoais"],
            "contains": 1 - sum(flags.get(flag, 0) for flag in _WITHOUT) / run.details["answered"], "flags": flags,
        }  # fmt: skip
    return found


def _run_of(services: Services, file: Path) -> str | None:
    """The run over the very answers of a file, if there was one."""
    from sqlalchemy import select

    from core.tables import RunRow

    spec = f"answers:{file.name}@{hashlib.sha256(file.read_bytes()).hexdigest()}"
    with services.database.reading() as session:
        rows = session.scalars(select(RunRow).where(RunRow.submission_id.is_not(None)))
        return next((row.id for row in rows if row.plan["changes"]["answerer"] == spec), None)


def _first(true: Any) -> int:
    return next((at for at, each in enumerate(true) if each), max(CUTS))


def _told(name: str) -> Any:
    return lambda done, total: print(f"{name}: {done:,} of {total:,} pairs judged", file=sys.stderr, flush=True)


def _print_table(name: str, figures: dict[str, Any], columns: Sequence[str]) -> None:
    print(f"{name:32}" + "".join(f"{100 * figures[column]:8.1f}" for column in columns))


def main() -> None:
    """Print the tables; with `--json` the last line is one JSON object of the same figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--no-dense", action="store_true")
    parser.add_argument("--judge", default="")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    services, benchmark = prepared(given.data, given.work)
    corpus, store = services.benchmarks.corpus(benchmark), IndexStore(given.work / "indexes")
    lines = (json.loads(line) for line in (given.data / "corpus" / "gold_passages.jsonl").open())
    gold = {line["question"]: set(line["passage_ids"]) for line in lines}
    retrievers: dict[str, Retriever] = {"BM25": open_bm25(store, corpus)}
    if not given.no_dense:
        retrievers["MiniLM"] = open_dense(store, corpus, "minilm")
    figures: dict[str, Any] = {"gold_contains": gold_contains(services, benchmark, gold)}
    columns = [f"{what}@{cut}" for what in ("recall", "contains") for cut in CUTS]
    print(" " * 32 + "".join(f"{column.replace('contains', 'cont.'):>8}" for column in columns))
    for name, retriever in retrievers.items():
        for form in ("question", "question + reference"):
            figures[f"{name}, {form}"] = recall(retriever, benchmark, gold, form)
            _print_table(f"{name}, {form}", figures[f"{name}, {form}"], columns)
    print(f"a gold passage holds a reference: {100 * figures['gold_contains']:.1f}")
    if given.judge:
        figures["attributed"] = attributed(services, given.data, given.judge)
        for name, values in figures["attributed"].items():
            _print_table(f"{name} + BM25", values, ("em", given.judge, "contains"))
    if given.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
