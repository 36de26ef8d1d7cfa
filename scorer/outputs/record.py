"""All that the outputs of one evaluation are made of, from a fresh evaluation or from what is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.benchmark import Benchmark, Benchmarks
from core.database import Database
from core.errors import Conflict, NotFound
from core.records import Item, Judgment, Pair, Passage, Score
from core.tables import EvaluationRow, Submission
from core.text import pair_key
from scorer import judgments
from scorer.scoring import Evaluation, Values, items_of, pairs_of
from scorer.stored import read_predictions, read_scores, read_values
from submissions.labels import labels_for, synthetic_ratings

PER_QUESTION = ("em", "f1", "autoais_p", "autoais")


@dataclass(frozen=True)
class Outputs:
    """One evaluation: `digest` is that of the predictions, `judge` the judge's signature, `values` per question."""

    benchmark: Benchmark
    digest: str
    judge: str
    signature: str
    scores: Mapping[str, Score]
    items: list[Item]
    passages: Mapping[str, Passage]
    values: Mapping[str, Values]
    report: Mapping[str, Any]
    """As `submissions.report.report_to_dict` gives it."""
    synthetic: bool
    """True where human ratings behind it are simulated."""


def from_evaluation(
    database: Database, benchmark: Benchmark, digest: str, found: Evaluation, report: Mapping[str, Any]
) -> Outputs:
    """The outputs of predictions that were just scored."""
    values = {key: found.values[key] for key in PER_QUESTION}
    with database.reading() as session:
        synthetic = benchmark.synthetic or synthetic_ratings(session, benchmark.id)
    return Outputs(
        benchmark, digest, found.judge, found.signature, found.scores, found.items, found.passages, values, report,
        synthetic,
    )  # fmt: skip


def from_stored(database: Database, benchmarks: Benchmarks, submission_id: str) -> Outputs:
    """The outputs of a stored submission. Raises `NotFound`, and `Conflict` if it has no scores yet."""
    with database.reading() as session:
        submission = session.get(Submission, submission_id)
        if submission is None:
            raise NotFound(f"There is no submission {submission_id!r}.")
        evaluation = session.get(EvaluationRow, submission.evaluation_id) if submission.evaluation_id else None
        if evaluation is None:
            raise Conflict(f"Submission {submission_id} is {submission.state}: it has no scores.", "Ask again later.")
        benchmark = benchmarks.get(submission.benchmark_id)
        predictions = read_predictions(session, submission_id)
        scores = read_scores(session, evaluation.id)
        values = {key: read_values(session, evaluation.id, key) for key in PER_QUESTION}
        labels = labels_for(session, benchmark.id, predictions)
        synthetic = benchmark.synthetic or synthetic_ratings(session, benchmark.id)
    pairs, passages = pairs_of(benchmark, benchmarks.corpus(benchmark), predictions)
    judged = _judged(database, evaluation.judge, pairs)
    items = items_of(benchmark, predictions, labels, judged)
    return Outputs(
        benchmark, submission.digest, evaluation.judge, evaluation.signature, scores, items, passages, values,
        submission.report, synthetic,
    )  # fmt: skip


def _judged(database: Database, judge: str, pairs: Mapping[int, Pair]) -> dict[int, Judgment]:
    keys = {position: pair_key(pair.premise, pair.hypothesis) for position, pair in pairs.items()}
    known = judgments.lookup(database, judge, list(keys.values()))
    return {position: known[key] for position, key in keys.items() if key in known}
