"""How each track's entries are scored: what is read, judged, labelled and measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy.orm import Session

from core.benchmark import Benchmark, Benchmarks
from core.ports import Metric
from core.records import Judgment, Pair, Passage
from core.tracks import EDITING, QA
from scorer.editing.track import EditingTrack
from scorer.qa_track import QaTrack
from scorer.scoring import Evaluation
from scorer.signature import Recipe
from scorer.statistics.resamples import ResampleStore


class Prepared(Protocol):
    """An entry made ready for judging."""

    @property
    def pairs(self) -> Mapping[bytes, Pair]:
        """What is to be judged, by pair key."""
        ...

    @property
    def passages(self) -> dict[str, Passage]:
        """The corpus's passages in it, by id."""
        ...


class Labelled(Protocol):
    """What people said of an entry."""

    @property
    def digest(self) -> str:
        """The hash that stands in signatures."""
        ...


class Track(Protocol):
    """One track. The rows, prepared entries, labels and items are its own and go from method to method."""

    @property
    def sentences(self) -> str:
        """The part of signatures that says how texts were parted; "" where they are not."""
        ...

    def read(self, session: Session, submission_id: str) -> Sequence[Any]:
        """The stored rows of a submission, by position."""
        ...

    def prepare(self, benchmark: Benchmark, benchmarks: Benchmarks, rows: Sequence[Any]) -> Any:
        """The entry as `Prepared`."""
        ...

    def labels(self, session: Session, benchmark: Benchmark, rows: Sequence[Any]) -> Any:
        """What people said of it, as `Labelled`."""
        ...

    def items(
        self,
        benchmark: Benchmark,
        rows: Sequence[Any],
        prepared: Any,
        judgments: Mapping[bytes, Judgment],
        labels: Any,
    ) -> list[Any]:
        """One item per question or passage of the benchmark, in its order."""
        ...

    def evaluation(
        self, recipe: Recipe, metrics: Sequence[Metric], items: list[Any], prepared: Any, resamples: ResampleStore
    ) -> Evaluation:
        """The numbers."""
        ...


_TRACKS: dict[str, Callable[[str], Track]] = {QA: lambda form: QaTrack(), EDITING: EditingTrack}


def load(track: str, sentence_form: str = "plain") -> Track:
    """A track by its key; texts that it parts are judged in that form. Raises `InvalidInput` for the form."""
    return _TRACKS[track](sentence_form)
