"""A submission → stored scores; idempotent by (digest of the predictions, signature)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from core.benchmark import Benchmark, Benchmarks
from core.database import Database
from core.errors import NotFound
from core.ports import Judge
from core.records import Judgment, Pair
from core.tables import BenchmarkRow, Submission
from scorer import metrics, tracks
from scorer.judgments import JudgmentCache
from scorer.scoring import Evaluation
from scorer.signature import Recipe, recipe, without_labels
from scorer.statistics.resamples import ResampleStore
from scorer.stored import find, show, store
from scorer.tracks import Labelled, Prepared, Track
from submissions.labels import labels_stamp


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
    sentence_form: str = "plain"

    def score(
        self,
        benchmark: Benchmark,
        rows: Sequence[Any],
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Evaluation:
        """Score an entry (predictions, or revisions) without storing anything but judgments.

        `progress` counts judged pairs.
        """
        prepared = self._track(benchmark).prepare(benchmark, self.benchmarks, rows)
        judgments = self._judged(prepared, progress)
        with self.database.reading() as session:
            labels = self._track(benchmark).labels(session, benchmark, rows)
        return self._measured(benchmark, rows, labels, prepared, judgments)

    def evaluate(
        self,
        submission_id: str,
        keep: Callable[[Session, int], None] | None = None,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> int:
        """Score a stored submission; returns the evaluation's id.

        `keep` gets it in the transaction that stores the scores (if it raises, nothing was stored); without one the
        submission is pointed at it.
        """
        submission, benchmark, rows = self._read(submission_id)
        track = self._track(benchmark)
        prepared = track.prepare(benchmark, self.benchmarks, rows)
        judgments = self._judged(prepared, progress)
        while True:
            with self.database.reading() as session:
                stamp = labels_stamp(session, benchmark.id)
                labels = track.labels(session, benchmark, rows)
                signature = self.recipe(benchmark, labels).whole(metrics.load_all(benchmark.track))
                existing = find(session, benchmark.id, submission.digest, signature)
            found = None if existing else self._measured(benchmark, rows, labels, prepared, judgments)
            with self.database.transaction() as session:
                # Ratings change under a stronger lock on the benchmark: none does between this check and the commit.
                session.get(BenchmarkRow, benchmark.id, with_for_update={"read": True, "key_share": True})
                if labels_stamp(session, benchmark.id) != stamp:
                    continue
                evaluation_id = existing or store(session, submission, found)  # type: ignore[arg-type]
                if keep is not None:
                    keep(session, evaluation_id)
                else:
                    show(session, submission_id, evaluation_id)
            return evaluation_id

    def missing(self, submission_id: str) -> list[bytes]:
        """The sorted keys of a stored submission's pairs that the judgment cache lacks."""
        keys = list(self._pairs(submission_id))
        known = self._cache().known(keys)
        return sorted(key for key in keys if key not in known)

    def judge_between(
        self,
        submission_id: str,
        first: bytes,
        last: bytes,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        """Judge a stored submission's pairs with keys from `first` to `last`, as far as the cache lacks them."""
        chosen = [pair for key, pair in sorted(self._pairs(submission_id).items()) if first <= key <= last]
        self._cache().judge_all(chosen, progress)

    def recipe(self, benchmark: Benchmark, labels: Labelled) -> Recipe:
        """The recipe under this scorer's judge and settings."""
        sentences = self._track(benchmark).sentences
        return recipe(benchmark, self.judge, labels.digest, self.resample_count, self.seed, sentences)

    def frame(self, benchmark: Benchmark) -> str:
        """The signature of this scorer's evaluations, without the labels used."""
        sentences = self._track(benchmark).sentences
        made = recipe(benchmark, self.judge, "", self.resample_count, self.seed, sentences)
        return without_labels(made.whole(metrics.load_all(benchmark.track)))

    def _track(self, benchmark: Benchmark) -> Track:
        return tracks.load(benchmark.track, self.sentence_form)

    def _judged(self, prepared: Prepared, progress: Callable[[int, int], None]) -> dict[bytes, Judgment]:
        judged = self._cache().judge_all(list(prepared.pairs.values()), progress)
        return dict(zip(prepared.pairs, judged, strict=True))

    def _cache(self) -> JudgmentCache:
        return JudgmentCache(self.database, self.judge, self.judge_chunk)

    def _pairs(self, submission_id: str) -> Mapping[bytes, Pair]:
        _, benchmark, rows = self._read(submission_id)
        prepared: Prepared = self._track(benchmark).prepare(benchmark, self.benchmarks, rows)
        return prepared.pairs

    def _measured(
        self,
        benchmark: Benchmark,
        rows: Sequence[Any],
        labels: Labelled,
        prepared: Prepared,
        judgments: Mapping[bytes, Judgment],
    ) -> Evaluation:
        track = self._track(benchmark)
        items = track.items(benchmark, rows, prepared, judgments, labels)
        chosen = metrics.load_all(benchmark.track)
        return track.evaluation(self.recipe(benchmark, labels), chosen, items, prepared, self.resamples)

    def _read(self, submission_id: str) -> tuple[Submission, Benchmark, Sequence[Any]]:
        with self.database.reading() as session:
            submission = session.get(Submission, submission_id)
            if submission is None:
                raise NotFound(f"There is no submission {submission_id!r}.")
            benchmark = self.benchmarks.get(submission.benchmark_id)
            return submission, benchmark, self._track(benchmark).read(session, submission_id)
