"""Predictions and their judgments in, numbers out: measure, put intervals on it. Stores nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core import templates
from core.benchmark import Benchmark
from core.corpus import Corpus
from core.ports import Metric
from core.records import Interval, Item, Judgment, Label, Measured, Pair, Passage, Prediction, Score
from scorer.metrics.reasons import unattributable
from scorer.population import population_ais
from scorer.rater_noise import with_raters
from scorer.signature import Recipe
from scorer.statistics.harmonic import estimate_harmonic
from scorer.statistics.intervals import estimate
from scorer.statistics.resamples import ResampleStore

Values = npt.NDArray[np.float64]
"""One value per question of the benchmark, NaN outside the metric's denominator."""


@dataclass(frozen=True)
class Evaluation:
    """Everything scoring found: the track's items, the published numbers, and each metric's value per question."""

    signature: str
    judge: str
    items: list[Any]
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
    """Measure every metric of question answering on the items."""
    scores, values = measure_all(recipe, metrics, items, resamples)
    if "ais" in scores:
        scores["ais"].details["ppi"] = population_ais(recipe, items)
        if scores["ais"].value is not None:
            scores["ais"].details["with_raters"] = with_raters(recipe, items, resamples)
    values["autoais_p"] = np.array([item.judgment.p if item.judgment else np.nan for item in items])
    return Evaluation(recipe.whole(list(metrics)), recipe.judge, items, passages, scores, values)


def measure_all(
    recipe: Recipe, metrics: Sequence[Metric], items: Sequence[Any], resamples: ResampleStore
) -> tuple[dict[str, Score], dict[str, Values]]:
    """The number of each metric, and its value per item."""
    scores, values = {}, {}
    for metric in metrics:
        measured = metric.measure(items)
        scores[metric.key] = _score(metric, measured, recipe, resamples)
        values[metric.key] = _spread(measured, len(items))
    return scores, values


def _score(metric: Metric, measured: Measured, recipe: Recipe, resamples: ResampleStore) -> Score:
    signature, details, n = recipe.of(metric), dict(measured.details), len(measured.values)
    if measured.reason is not None or n == 0:
        nothing = Interval(None, None, None, "none")
        reason = measured.reason or "There is no question to measure."
        return Score(metric.key, None, n, nothing, signature, reason, details)
    drawn = resamples.get(n, recipe.resamples, recipe.seed)
    if measured.parts is None:
        found = estimate(measured.values, drawn)
    else:
        found = estimate_harmonic(np.column_stack(measured.parts), drawn)
    if found.reason is not None:
        details["interval_reason"] = found.reason
    return Score(metric.key, found.value, n, found.interval, signature, None, details)


def _spread(measured: Measured, size: int) -> Values:
    values = np.full(size, np.nan)
    values[list(measured.positions)] = list(measured.values)
    return values
