"""A submission → stored scores; idempotent by (digest of the predictions, signature)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from core.benchmark import Benchmark, Benchmarks
from core.database import Database
from core.errors import NotFound
from core.ports import Judge, Metric
from core.records import Judgment, Label, Pair, Passage, Prediction
from core.tables import BenchmarkRow, Submission
from core.text import pair_key, triple_key
from scorer import metrics
from scorer.judgments import JudgmentCache
from scorer.scoring import Evaluation, items_of, judge_predictions, pairs_of, score_items
from scorer.signature import Recipe, recipe
from scorer.statistics.resamples import ResampleStore
from scorer.stored import find, read_predictions, store
from submissions.labels import labels_for, labels_hash, labels_stamp, near_labels_for
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


@dataclass
class Scorer:
    """What scoring needs, wired once: the data, the judge and the shared resamples."""

    database: Database
    benchmarks: Benchmarks
    judge: Judge
    resamples: ResampleStore
    resample_count: int
    seed: int
    judge_chunk: int = 256

    def score(
        self,
        benchmark: Benchmark,
        predictions: list[Prediction],
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Evaluation:
        """Score predictions without storing anything but judgments; `progress` counts judged pairs."""
        judgments, passages = self._judged(benchmark, predictions, progress)
        with self.database.reading() as session:
            labels = _labels(session, benchmark, predictions)
        return self._measured(benchmark, predictions, labels, judgments, passages)

    def evaluate(
        self,
        submission_id: str,
        finish: Callable[[Session], None] = lambda session: None,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> int:
        """Score a stored submission and point it at its evaluation; returns the evaluation's id.

        `finish` runs in the transaction that stores the scores: if it raises, nothing was stored.
        """
        submission, predictions = self._read(submission_id)
        benchmark = self.benchmarks.get(submission.benchmark_id)
        judgments, passages = self._judged(benchmark, predictions, progress)
        while True:
            with self.database.reading() as session:
                stamp = labels_stamp(session, benchmark.id)
                labels = _labels(session, benchmark, predictions)
                signature = self.recipe(benchmark, labels).whole(metrics.load_all())
                existing = find(session, benchmark.id, submission.digest, signature)
            found = None if existing else self._measured(benchmark, predictions, labels, judgments, passages)
            with self.database.transaction() as session:
                # Ratings change under a stronger lock on the benchmark: none does between this check and the commit.
                session.get(BenchmarkRow, benchmark.id, with_for_update={"read": True, "key_share": True})
                if labels_stamp(session, benchmark.id) != stamp:
                    continue
                evaluation_id = existing or store(session, submission, found)  # type: ignore[arg-type]
                row = session.get_one(Submission, submission_id)
                row.evaluation_id, row.state, row.stage, row.progress, row.reason = (
                    evaluation_id, "scored", "done", 1.0, None,
                )  # fmt: skip
                finish(session)
            return evaluation_id

    def missing(self, submission_id: str) -> list[bytes]:
        """The sorted keys of a stored submission's pairs that the judgment cache lacks."""
        keys = list(self._pairs(submission_id))
        known = self._cache().known(keys)
        return sorted(key for key in keys if key not in known)

    def judge_between(self, submission_id: str, first: bytes, last: bytes) -> None:
        """Judge a stored submission's pairs with keys from `first` to `last`, as far as the cache lacks them."""
        chosen = [pair for key, pair in sorted(self._pairs(submission_id).items()) if first <= key <= last]
        self._cache().judge_all(chosen)

    def recipe(self, benchmark: Benchmark, labels: Labels) -> Recipe:
        """The recipe under this scorer's judge and settings."""
        return recipe(benchmark, self.judge, labels.digest, self.resample_count, self.seed)

    def _judged(
        self, benchmark: Benchmark, predictions: list[Prediction], progress: Callable[[int, int], None]
    ) -> tuple[dict[int, Judgment], dict[str, Passage]]:
        return judge_predictions(benchmark, self.benchmarks.corpus(benchmark), predictions, self._cache(), progress)

    def _cache(self) -> JudgmentCache:
        return JudgmentCache(self.database, self.judge, self.judge_chunk)

    def _pairs(self, submission_id: str) -> dict[bytes, Pair]:
        submission, predictions = self._read(submission_id)
        benchmark = self.benchmarks.get(submission.benchmark_id)
        pairs, _ = pairs_of(benchmark, self.benchmarks.corpus(benchmark), predictions)
        return {pair_key(pair.premise, pair.hypothesis): pair for pair in pairs.values()}

    def _measured(
        self,
        benchmark: Benchmark,
        predictions: list[Prediction],
        labels: Labels,
        judgments: dict[int, Judgment],
        passages: dict[str, Passage],
    ) -> Evaluation:
        items = items_of(benchmark, predictions, labels.exact, judgments, labels.near, labels.sampled)
        chosen: list[Metric] = metrics.load_all()
        return score_items(self.recipe(benchmark, labels), chosen, items, passages, self.resamples)

    def _read(self, submission_id: str) -> tuple[Submission, list[Prediction]]:
        with self.database.reading() as session:
            submission = session.get(Submission, submission_id)
            if submission is None:
                raise NotFound(f"There is no submission {submission_id!r}.")
            return submission, read_predictions(session, submission_id)


def _labels(session: Session, benchmark: Benchmark, predictions: list[Prediction]) -> Labels:
    exact = labels_for(session, benchmark.id, predictions)
    due = [prediction for prediction in predictions if benchmark.questions[prediction.position].rated]
    near = near_labels_for(session, benchmark.id, due, exact)
    keys = {triple_key(p.position, p.answer, p.passage_id): p.position for p in predictions if p.passage_id is not None}
    drawn = sampling(session, benchmark.id, list(keys))
    return Labels(exact, near, {keys[triple]: probability for triple, probability in drawn.items()})
