"""Editing as a track: revisions, whose sentences are judged against their reports, with labels of both texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from core.benchmark import Benchmark, Benchmarks
from core.editing import Revision
from core.errors import AqaError
from core.ports import Metric
from core.records import Judgment
from scorer.editing import sentences
from scorer.editing.items import EditItem, Prepared, items_of, prepare
from scorer.scoring import Evaluation, measure_all
from scorer.signature import Recipe
from scorer.statistics.resamples import ResampleStore
from scorer.stored import read_revisions
from submissions.editing.labels import EditLabels, edit_labels_for


class EditingTrack:
    """Revised passages with a report each; sentences are judged in one of `scorer.editing.sentences.FORMS`."""

    def __init__(self, form: str = sentences.PLAIN) -> None:
        self._form = sentences.checked(form)

    @property
    def sentences(self) -> str:
        """How texts are parted, for signatures."""
        return sentences.signature(self._form)

    def read(self, session: Session, submission_id: str) -> list[Revision]:
        """The stored revisions, by position."""
        return read_revisions(session, submission_id)

    def prepare(self, benchmark: Benchmark, benchmarks: Benchmarks, rows: Sequence[Revision]) -> Prepared:
        """The sentences and pairs of the revised texts and of the originals."""
        return prepare(benchmark.questions, rows, self._form)

    def labels(self, session: Session, benchmark: Benchmark, rows: Sequence[Revision]) -> EditLabels:
        """Labels of the revised texts and of the originals with the same reports."""
        return edit_labels_for(session, benchmark, rows)

    def items(
        self,
        benchmark: Benchmark,
        rows: Sequence[Revision],
        prepared: Prepared,
        judgments: Mapping[bytes, Judgment],
        labels: EditLabels,
    ) -> list[EditItem]:
        """One item per passage of the benchmark."""
        return items_of(benchmark.questions, rows, prepared, judgments, labels)

    def evaluation(
        self, recipe: Recipe, metrics: Sequence[Metric], items: list[EditItem], prepared: Prepared,
        resamples: ResampleStore,
    ) -> Evaluation:  # fmt: skip
        """The numbers. Raises `AqaError` where a sentence was not judged."""
        judged = [s for item in items if item.evidence for s in (*item.after.sentences, *item.before.sentences)]
        if any(sentence.snippet is None for sentence in judged):
            raise AqaError("A sentence was not judged.", "Score the entry again.")
        scores, values = measure_all(recipe, metrics, items, resamples)
        return Evaluation(recipe.whole(list(metrics)), recipe.judge, items, {}, scores, values)
