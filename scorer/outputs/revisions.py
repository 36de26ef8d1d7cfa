"""One row per passage of an editing benchmark: the revision, its evidence, and how each sentence was scored."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.editing import Snippet
from scorer.editing.items import EditItem, Version
from scorer.outputs.record import Outputs
from submissions.editing.labels import Verdict


@dataclass(frozen=True, slots=True)
class JudgedSentence:
    """`snippet` counts from 1 in the report: the one with the highest p. `supported` is Y, N, or None unrated."""

    text: str
    p: float | None
    snippet: int | None
    supported: str | None
    votes: str | None


@dataclass(frozen=True, slots=True)
class RevisedPassage:
    """`sentences` are the revised text's, `sentences_before` the original's, both against the same report."""

    id: str
    text: str
    context: tuple[str, ...]
    revised: str | None
    report: tuple[Snippet, ...]
    sentences: tuple[JudgedSentence, ...]
    sentences_before: tuple[JudgedSentence, ...]
    attr_auto: float
    attr_auto_before: float
    pres_lev: float
    f1_ap_auto: float
    attr_ais: float | None
    pres_intent: float | None
    intent_votes: str | None
    reasons: tuple[str, ...]
    """Why nothing could be attributed, or remarks on the judgments."""


def revised_passages(outputs: Outputs) -> Iterator[RevisedPassage]:
    """The rows in the benchmark's order, passages without a revision included."""
    for at, item in enumerate(outputs.items):
        value = {key: float(values[at]) for key, values in outputs.values.items()}
        label = item.after.label
        yield RevisedPassage(
            item.question.id,
            item.question.text,
            item.question.context,
            item.revision.text if item.revision else None,
            item.revision.report if item.revision else (),
            _sentences(item, item.after),
            _sentences(item, item.before),
            value["attr_auto"],
            value["attr_auto_before"],
            value["pres_lev"],
            value["f1_ap_auto"],
            _known(value["attr_ais"]),
            _known(value["pres_intent"]),
            _votes(label.intent if label else None),
            _reasons(item),
        )


def arrow() -> dict[str, Any]:
    """The columns that are not text, as Arrow types."""
    import pyarrow as pa

    texts, numbers, text = pa.list_(pa.string()), pa.float64(), pa.string()
    snippets = pa.list_(pa.struct([("text", text), ("source", text), ("query", text)]))
    sentences = pa.list_(
        pa.struct([("text", text), ("p", numbers), ("snippet", pa.int64()), ("supported", text), ("votes", text)])
    )
    names = ("attr_auto", "attr_auto_before", "pres_lev", "f1_ap_auto", "attr_ais", "pres_intent")
    return {
        "context": texts, "reasons": texts, "report": snippets, "sentences": sentences, "sentences_before": sentences,
        **dict.fromkeys(names, numbers),
    }  # fmt: skip


def _sentences(item: EditItem, version: Version) -> tuple[JudgedSentence, ...]:
    told = version.label.sentences if version.label else {}
    found = []
    for number, sentence in enumerate(version.sentences, start=1):
        verdict, place = told.get(number), sentence.snippet
        supported = None if verdict is None else "Y" if verdict.yes else "N"
        p, shown = (None, None) if place is None else (sentence.p, place + 1)
        found.append(JudgedSentence(sentence.text, p, shown, supported, _votes(verdict)))
    return tuple(found)


def _votes(verdict: Verdict | None) -> str | None:
    return None if verdict is None else f"{verdict.positive}/{verdict.raters}"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _reasons(item: EditItem) -> tuple[str, ...]:
    reason = item.reason
    if reason is not None:
        return (reason,)
    return tuple(dict.fromkeys(flag for sentence in item.after.sentences for flag in sentence.flags))
