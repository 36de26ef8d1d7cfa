"""Attributed question answering as a track: predictions, judged against their passages, with labels of triples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from core.benchmark import Benchmark, Benchmarks
from core.ports import Metric
from core.records import Item, Judgment, Label, Pair, Passage, Prediction
from core.text import pair_key, triple_key
from scorer.scoring import Evaluation, items_of, pairs_of, score_items
from scorer.signature import Recipe
from scorer.statistics.resamples import ResampleStore
from scorer.stored import read_predictions
from submissions.labels import labels_for, labels_hash, near_labels_for
from submissions.ratings.sheets import sampling


@dataclass(frozen=True)
class Labels:
    """What people said of a submission, by position.

    Labels of its own triples; near ones, which enter no score; and with which probability a sheet drew a triple.
    """

    exact: dict[int, Label]
    near: dict[int, Label]
    sampled: dict[int, float]

    @property
    def digest(self) -> str:
        """The hash that stands in signatures."""
        return labels_hash(self.exact, self.near, {at: p for at, p in self.sampled.items() if at in self.exact})


@dataclass(frozen=True)
class Prepared:
    """The pairs by question position, and the passages in them."""

    by_position: Mapping[int, Pair]
    passages: dict[str, Passage]

    @property
    def pairs(self) -> dict[bytes, Pair]:
        """What is to be judged, by pair key."""
        return {_key(pair): pair for pair in self.by_position.values()}


class QaTrack:
    """Answers with one passage each."""

    sentences = ""

    def read(self, session: Session, submission_id: str) -> list[Prediction]:
        """The stored predictions, by position."""
        return read_predictions(session, submission_id)

    def prepare(self, benchmark: Benchmark, benchmarks: Benchmarks, rows: Sequence[Prediction]) -> Prepared:
        """The pairs and passages of what can be judged."""
        return Prepared(*pairs_of(benchmark, benchmarks.corpus(benchmark), rows))

    def labels(self, session: Session, benchmark: Benchmark, rows: Sequence[Prediction]) -> Labels:
        """Labels of the triples."""
        exact = labels_for(session, benchmark.id, rows)
        due = [prediction for prediction in rows if benchmark.questions[prediction.position].rated]
        near = near_labels_for(session, benchmark.id, due, exact)
        keys = {triple_key(p.position, p.answer, p.passage_id): p.position for p in rows if p.passage_id is not None}
        drawn = sampling(session, benchmark.id, list(keys))
        return Labels(exact, near, {keys[triple]: probability for triple, probability in drawn.items()})

    def items(
        self,
        benchmark: Benchmark,
        rows: Sequence[Prediction],
        prepared: Prepared,
        judgments: Mapping[bytes, Judgment],
        labels: Labels,
    ) -> list[Item]:
        """One item per question."""
        judged = {at: judgments[key] for at, pair in prepared.by_position.items() if (key := _key(pair)) in judgments}
        return items_of(benchmark, rows, labels.exact, judged, labels.near, labels.sampled)

    def evaluation(
        self, recipe: Recipe, metrics: Sequence[Metric], items: list[Item], prepared: Prepared, resamples: ResampleStore
    ) -> Evaluation:
        """The numbers."""
        return score_items(recipe, metrics, items, prepared.passages, resamples)


def _key(pair: Pair) -> bytes:
    return pair_key(pair.premise, pair.hypothesis)
