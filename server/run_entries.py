"""A run's outputs as the file that anybody would send, in the form of the benchmark's track, and the entry's name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from core.benchmark import Benchmark
from core.records import Question
from core.tables import Submission
from core.tables.base import utc_now
from core.tracks import EDITING, QA
from submissions.intake import SystemCard
from systems import runner
from systems.config import SystemConfig

Line = Callable[[Question, Mapping[str, Any]], dict[str, Any]]
_LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of a benchmark a run is over: its first questions or passages, by plan or because a budget ended it."""

    first: int
    total: int
    ended: str
    things: str

    @classmethod
    def of(cls, result: runner.Run, asked: int, benchmark: Benchmark) -> Extent:
        """A complete run may lack answers here and there; one that was stopped lacks all from some question on."""
        first = asked if result.ended == runner.COMPLETE else len(result.outputs)
        return cls(first, len(benchmark.questions), result.ended, _WORDS[benchmark.track][1])

    @property
    def whole(self) -> bool:
        """True if nothing is left out."""
        return self.first >= self.total


def entry_card(
    entry: Mapping[str, Any] | None, config: SystemConfig, changes: Mapping[str, str], extent: Extent
) -> SystemCard:
    """What the entry says of its system: of a team's model as the team says it, else as the catalog does.

    A run over a part is a system of its own, and named as such: it would else replace the whole run's entry.
    """
    first = [] if extent.whole else [f"first {extent.first}"]
    if entry is not None:
        suffix = f" ({first[0]})" if first else ""
        name = entry["name"].strip()[: _LONGEST_NAME - len(suffix)].rstrip() + suffix
        return SystemCard(**{**entry, "name": name, "links": tuple(entry["links"])})
    described = f"{config.title}. {config.notes}".strip()
    if extent.ended != runner.COMPLETE:
        described += (
            f" The run ended {extent.ended} after the first {extent.first:,} of {extent.total:,} {extent.things}."
        )
    name = _named(config, changes, first)
    return SystemCard(name, config.architecture, config.supervision, described, (), config.uses_autoais)


def supersede(session: Session, before: str | None, submission: Submission) -> None:
    """Take what the same run had entered before it was resumed off the board, and show its entry now if that was shown.

    The benchmark must be locked, as whoever changes an entry has it: it is where the new entry is stored.
    """
    earlier = session.get(Submission, before, with_for_update=True) if before else None
    if earlier is None or earlier.withdrawn_at is not None or earlier.id == submission.id:
        return
    if earlier.published and submission.published_at is None:
        submission.published_at = utc_now()
    earlier.withdrawn_at = utc_now()


def _named(config: SystemConfig, changes: Mapping[str, str], first: list[str]) -> str:
    """The name on the board: the catalog's only if nothing was changed, so that no stand-in goes by it."""
    short = first + [
        _short(value).split("@")[0] if name == "model" else f"{name}={_short(value)}"
        for name, value in sorted(changes.items())  # PostgreSQL keeps no order of them
    ]
    return f"{config.name} ({', '.join(short)})"[:_LONGEST_NAME] if short else config.name


def _short(value: str) -> str:
    """A component's value without folders, and a file of answers without its digest."""
    kind, _, where = value.partition(":")
    return where.partition("@")[0] if kind == "answers" else value.rstrip("/").rpartition("/")[2]


def entry_file(benchmark: Benchmark, result: runner.Run) -> bytes:
    """JSONL by position: a line per answered question, or per revised passage."""
    line = _LINES[benchmark.track]
    outputs = sorted(result.outputs, key=lambda output: output["position"])
    rows = (line(benchmark.questions[output["position"]], output) for output in outputs)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "surrogatepass")


def counted(benchmark: Benchmark, result: runner.Run, total: int) -> str:
    """How far a run is, in words."""
    doing, things = _WORDS[benchmark.track]
    return f"{doing}: {len(result.outputs):,} of {total:,} {things}"


def _prediction(question: Question, output: Mapping[str, Any]) -> dict[str, Any]:
    return {"question": question.text, "answer": output["answer"], "attribution": output["passage_id"] or ""}


def _revision(question: Question, output: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": question.id, "revised": output["text"], "report": output["report"]}


_LINES: dict[str, Line] = {QA: _prediction, EDITING: _revision}
_WORDS = {QA: ("answering", "questions"), EDITING: ("revising", "passages")}
