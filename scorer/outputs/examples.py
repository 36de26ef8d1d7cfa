"""One row per question of the benchmark: what was answered, what it was judged on, and how it was scored."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields

from core.passage_text import rating_text
from core.records import Item, Label
from scorer.judges.verdict import near
from scorer.metrics.reasons import unattributable
from scorer.outputs.record import Outputs


@dataclass(frozen=True, slots=True)
class Example:
    """`passage` is the corpus text in the raters' form; `autoais_p` is None where nothing could be judged."""

    question: str
    answer: str | None
    attribution: str | None
    passage: str | None
    references: tuple[str, ...]
    em: float
    f1: float
    autoais_p: float | None
    autoais: float
    human_rating: str | None
    """Y or N by strict majority of the raters; None where nobody rated this triple."""
    votes: str | None
    """`3/5` = three of five raters were positive; None where only the aggregated label is known."""
    reasons: tuple[str, ...]
    """Why nothing could be judged, or remarks on the judgment."""


COLUMNS = tuple(field.name for field in fields(Example))


def examples(outputs: Outputs) -> Iterator[Example]:
    """The rows in the benchmark's order, unanswered questions included."""
    values = outputs.values
    for at, item in enumerate(outputs.items):
        prediction, p = item.prediction, float(values["autoais_p"][at])
        passage = outputs.passages.get(prediction.passage_id or "") if prediction else None
        yield Example(
            item.question.text,
            prediction.answer if prediction else None,
            prediction.attribution if prediction else None,
            rating_text(passage) if passage else None,
            item.question.references,
            float(values["em"][at]),
            float(values["f1"][at]),
            None if math.isnan(p) else p,
            float(values["autoais"][at]),
            None if item.label is None else "Y" if item.label.attributable else "N",
            _votes(item.label),
            _reasons(item),
        )


def _votes(label: Label | None) -> str | None:
    return None if label is None or label.pre_aggregated else f"{label.positive}/{label.raters}"


def _reasons(item: Item) -> tuple[str, ...]:
    reason = unattributable(item.prediction)
    if reason is not None:
        return (reason,)
    if item.judgment is None:
        return ()
    return tuple(dict.fromkeys((*item.judgment.flags, *near(item.judgment.p))))
