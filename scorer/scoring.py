"""Predictions in, numbers out: judge what is missing, measure, put intervals on it. Stores nothing but judgments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core import templates
from core.benchmark import Benchmark
from core.corpus import Corpus
from core.ports import Metric
from core.records import Interval, Item, Judgment, Label, Measured, Pair, Passage, Prediction, Score
from scorer.judgments import JudgmentCache
from scorer.metrics.reasons import unattributable
from scorer.population import population_ais
from scorer.rater_noise import with_raters
from scorer.signature import Recipe
from scorer.statistics.intervals import estimate
from scorer.statistics.resamples import ResampleStore

Values = npt.NDArray[np.float64]
"""One value per question of the benchmark, NaN outside the metric's denominator."""


@dataclass(frozen=True)
class Evaluation:
    """Everything scoring found: the items, the published numbers, and each metric's value per question."""

    signature: str
    judge: str
    items: list[Item]
    passages: dict[str, Passage]
    scores: dict[str, Score]
    values: dict[str, Values]


def items_of(
    benchmark: Benchmark,
    predictions: Sequence[Prediction],
    labels: Mapping[int, Label],
    judgments: Mapping[int, Judgment],
    near: Mapping[int, Label] | None = None,
    sampled: Mapping[int, float] | None = None,
) -> list[Item]:
    """One item per question of the benchmark, in its order."""
    by_position = {prediction.position: prediction for prediction in predictions}
    nearly, drawn = near or {}, sampled or {}
    return [
        Item(q, by_position.get(at := q.position), judgments.get(at), labels.get(at), nearly.get(at), drawn.get(at))
        for q in benchmark.questions
    ]


def judge_predictions(
    benchmark: Benchmark,
    corpus: Corpus,
    predictions: Sequence[Prediction],
    cache: JudgmentCache,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[dict[int, Judgment], dict[str, Passage]]:
    """Judgments by question position, and the passages they were made on."""
    pairs, passages = pairs_of(benchmark, corpus, predictions)
    judged = cache.judge_all(list(pairs.values()), progress)
    return dict(zip(pairs, judged, strict=True)), passages


def pairs_of(
    benchmark: Benchmark, corpus: Corpus, predictions: Sequence[Prediction]
) -> tuple[dict[int, Pair], dict[str, Passage]]:
    """What is to be judged by question position, and the passages in it."""
    due = [prediction for prediction in predictions if unattributable(prediction) is None]
    passages = corpus.passages(p.passage_id for p in due if p.passage_id is not None)
    pairs = {
        p.position: templates.qa_pair(benchmark.questions[p.position].text, p.answer, passages[p.passage_id or ""])
        for p in due
    }
    return pairs, passages


def score_items(
    recipe: Recipe,
    metrics: Sequence[Metric],
    items: list[Item],
    passages: dict[str, Passage],
    resamples: ResampleStore,
) -> Evaluation:
    """Measure every metric on the items."""
    scores, values = {}, {}
    for metric in metrics:
        measured = metric.measure(items)
        scores[metric.key] = _score(metric, measured, recipe, resamples)
        values[metric.key] = _spread(measured, len(items))
    if "ais" in scores:
        scores["ais"].details["ppi"] = population_ais(recipe, items)
        if scores["ais"].value is not None:
            scores["ais"].details["with_raters"] = with_raters(recipe, items, resamples)
    values["autoais_p"] = np.array([item.judgment.p if item.judgment else np.nan for item in items])
    return Evaluation(recipe.whole(list(metrics)), recipe.judge, items, passages, scores, values)


def _score(metric: Metric, measured: Measured, recipe: Recipe, resamples: ResampleStore) -> Score:
    signature, details, n = recipe.of(metric), dict(measured.details), len(measured.values)
    if measured.reason is not None or n == 0:
        nothing = Interval(None, None, None, "none")
        reason = measured.reason or "There is no question to measure."
        return Score(metric.key, None, n, nothing, signature, reason, details)
    found = estimate(measured.values, resamples.get(n, recipe.resamples, recipe.seed))
    if found.reason is not None:
        details["interval_reason"] = found.reason
    return Score(metric.key, found.value, n, found.interval, signature, None, details)


def _spread(measured: Measured, size: int) -> Values:
    values = np.full(size, np.nan)
    values[list(measured.positions)] = list(measured.values)
    return values
