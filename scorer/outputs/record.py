"""All that the outputs of one evaluation are made of, from a fresh evaluation or from what is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.benchmark import Benchmark, Benchmarks
from core.database import Database
from core.errors import Conflict, NotFound
from core.records import Passage, Score
from core.tables import EvaluationRow, Submission
from core.tracks import EDITING, QA
from scorer import judgments, tracks
from scorer.editing import sentences
from scorer.scoring import Evaluation, Values
from scorer.stored import read_scores, read_values
from submissions.labels import synthetic_ratings

PER_QUESTION = {
    QA: ("em", "f1", "autoais_p", "autoais"),
    EDITING: ("attr_auto", "attr_auto_before", "pres_lev", "f1_ap_auto", "attr_ais", "pres_intent"),
}


@dataclass(frozen=True)
class Outputs:
    """One evaluation: `digest` is that of the entry, `judge` the judge's signature, `values` per question.

    `items` are those of the benchmark's track.
    """

    benchmark: Benchmark
    digest: str
    judge: str
    signature: str
    scores: Mapping[str, Score]
    items: list[Any]
    passages: Mapping[str, Passage]
    values: Mapping[str, Values]
    report: Mapping[str, Any]
    """As `submissions.report.report_to_dict` gives it."""
    synthetic: bool
    """True where human ratings behind it are simulated."""


def from_evaluation(
    database: Database, benchmark: Benchmark, digest: str, found: Evaluation, report: Mapping[str, Any]
) -> Outputs:
    """The outputs of an entry that was just scored."""
    values = {key: found.values[key] for key in PER_QUESTION[benchmark.track]}
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
        track = tracks.load(benchmark.track, sentences.form_of(evaluation.signature))
        rows = track.read(session, submission_id)
        scores = read_scores(session, evaluation.id)
        values = {key: read_values(session, evaluation.id, key) for key in PER_QUESTION[benchmark.track]}
        labels = track.labels(session, benchmark, rows)
        synthetic = benchmark.synthetic or synthetic_ratings(session, benchmark.id)
    prepared = track.prepare(benchmark, benchmarks, rows)
    judged = judgments.lookup(database, evaluation.judge, list(prepared.pairs))
    items = track.items(benchmark, rows, prepared, judged, labels)
    return Outputs(
        benchmark, submission.digest, evaluation.judge, evaluation.signature, scores, items, prepared.passages, values,
        submission.report, synthetic,
    )  # fmt: skip
