"""Learning from labels: pairs are judged, through the cache, and their p is set against what people said."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core import templates
from core.benchmark import Benchmarks
from core.database import Database
from core.errors import InvalidInput, NotFound
from core.ports import Judge
from core.tracks import QA
from scorer.judges.calibrated.crossfit import Labelled
from scorer.judges.calibrated.judge import group_of, lengths_of
from scorer.judges.calibrated.label_files import LabelledPairs
from scorer.judges.calibrated.report import Report, report
from scorer.judgments import JudgmentCache
from scorer.statistics.resamples import ResampleStore
from submissions.labels import labels_of


def of_benchmark(database: Database, benchmarks: Benchmarks, benchmark_id: str) -> LabelledPairs:
    """Every triple of a benchmark that has a label and a passage.

    Raises `NotFound` where nothing was rated, `InvalidInput` for a benchmark of another track.
    """
    benchmark = benchmarks.get(benchmark_id)
    if benchmark.track != QA:
        raise InvalidInput(
            f"Calibration learns from benchmarks of questions only; {benchmark_id!r} has passages to revise.",
            "Name a benchmark of questions, or hand in labelled pairs with --in FILE.",
        )
    with database.reading() as session:
        labels = sorted(labels_of(session, benchmark_id).values(), key=lambda each: (each.position, each.answer))
    passages = benchmarks.corpus(benchmark).passages(label.passage_id for label in labels)
    found = LabelledPairs([], [], [], [])
    for label in labels:
        question, passage = benchmark.questions[label.position], passages.get(label.passage_id)
        if passage is None or not label.answer.strip():
            continue
        pair = templates.qa_pair(question.text, label.answer, passage)
        found.pairs.append(pair)
        found.labels.append(float(label.attributable))
        found.groups.append(group_of(pair))
        found.sources.append("")
    if not found.pairs:
        raise NotFound(f"Nothing is rated in {benchmark_id!r}.", "Bring in ratings with: aqa ratings apply")
    return found


def learn(
    database: Database,
    judge: Judge,
    told: LabelledPairs,
    method: str,
    resamples: int,
    seed: int,
    chunk: int = 256,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Report:
    """Judge the pairs and fit; `progress` counts judged pairs."""
    judged = JudgmentCache(database, judge, chunk).judge_all(told.pairs, progress)
    labelled = Labelled(
        np.array([each.p for each in judged]),
        np.array(told.labels),
        told.groups,
        np.array([lengths_of(pair) for pair in told.pairs], dtype=np.float64),
    )
    return report(labelled, told.sources, method, ResampleStore(), resamples, seed)
