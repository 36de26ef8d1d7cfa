"""Training rows of the small judge from the public files its card names."""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scorer.judges.small_text import candidates, content_stems, shape, words

SEED = 20221215
SHARES = {"gold": 0.40, "plausible": 0.24, "wrong": 0.08, "other": 0.08, "unrelated": 0.10}
"""Share of each kind of SQuAD row in the fit of the QA model; human-labelled rows make up the rest."""
HUMAN_SHARE = 0.10
_MARKER = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled pair. `question` is None for a bare claim, which then stands in `answer`.

    `group` is the article, page or question that never stands on both sides of a cross-validation fold; `source` the
    collected set of a human-labelled row.
    """

    kind: str
    group: str
    question: str | None
    answer: str
    premise: str
    supported: bool
    weight: float = 1.0
    source: str = ""


def read(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def qa_rows(folder: Path) -> list[Row]:
    """SQuAD 2.0 rows with made negatives, and human-labelled claims whose answer is what the question lacks."""
    squad = list(squad_rows(read(folder / "squad2_dev.jsonl")))
    counts: dict[str, int] = defaultdict(int)
    for row in squad:
        counts[row.kind] += 1
    rows = [_weighted(row, SHARES[row.kind] / counts[row.kind]) for row in squad]
    human = list(human_rows(read(folder / "train.jsonl")))
    rows += [_weighted(row, HUMAN_SHARE / len(human)) for row in human]
    return [_weighted(row, row.weight * len(rows)) for row in rows]


def _weighted(row: Row, weight: float) -> Row:
    return replace(row, weight=weight)


def squad_rows(rows: list[dict[str, Any]]) -> Iterator[Row]:
    """Each answerable question with its answer and three made negatives; each other with its plausible answer.

    `wrong`: another span of the passage with the answer's shape; `other`: another question's answer in the same
    passage; `unrelated`: the same question and answer with a passage of another article.
    """
    dice = random.Random(SEED)
    by_passage: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        by_passage[row["passage"]] += (row["answers"] or row["plausible_but_unsupported"])[:1]
    passages = [(row["title"], row["passage"]) for row in rows]
    for row in rows:
        title, question = row["title"], row["question"]
        premise = f"{title}. {row['passage']}"
        if not row["answers"]:
            yield Row("plausible", title, question, row["plausible_but_unsupported"][0], premise, False)
            continue
        answer = row["answers"][0]
        yield Row("gold", title, question, answer, premise, True)
        known = {stem for a in row["answers"] for stem in content_stems(a)}
        for kind, spans in (
            ("wrong", _same_shape(answer, row["passage"], question)),
            ("other", by_passage[row["passage"]]),
        ):
            spans = [s for s in spans if content_stems(s) and known.isdisjoint(content_stems(s))]
            if spans:
                yield Row(kind, title, question, dice.choice(spans), premise, False)
        elsewhere = dice.choice([p for p in dice.choices(passages, k=50) if p[0] != title])
        yield Row("unrelated", title, question, answer, f"{elsewhere[0]}. {elsewhere[1]}", False)


def _same_shape(answer: str, passage: str, question: str) -> list[str]:
    kind = shape(answer)
    asked = set(content_stems(question))
    if kind == "other":
        return []
    spans = [passage[first:last] for first, last in candidates(kind, passage)]
    return [s for s in spans if not set(content_stems(s)) <= asked]


def human_rows(rows: list[dict[str, Any]]) -> Iterator[Row]:
    """Human-labelled answers to questions; the answer is made of the claim's words that the question lacks."""
    for row in rows:
        if row["src_dataset"] == "BEGIN" or not row["question"]:
            continue
        asked = {word for word, _ in words(row["question"])}
        kept = [w for w in _claim(row).split() if not {word for word, _ in words(w)} <= asked]
        if kept and (premise := _references(row)):
            supported = row["attribution_label"] == "attributable"
            yield Row(
                "human", row["question"], row["question"], " ".join(kept), premise, supported, source=row["src_dataset"]
            )


def claim_rows(folder: Path) -> list[Row]:
    """Bare (premise, claim) rows; each source weighs the same."""
    rows = [
        Row(
            "human", row["question"], None, _claim(row), _references(row), row["attribution_label"] == "attributable",
            source=row["src_dataset"],
        )
        for row in read(folder / "train.jsonl")
    ]  # fmt: skip
    rows += [
        Row("fool_me_twice", row["page"], None, row["claim"], " ".join(row["evidence"]), row["label"] == "SUPPORTS")
        for row in read(folder / "fool_me_twice.jsonl")
    ]
    fever = read(folder / "fever_symmetric.jsonl")
    groups = _linked([(row["premise"], row["claim"]) for row in fever])
    rows += [
        Row("fever_symmetric", group, None, row["claim"], row["premise"], row["label"] == "SUPPORTS")
        for row, group in zip(fever, groups, strict=True)
    ]
    rows = [row for row in rows if row.premise.strip() and row.answer.strip()]
    counts = {kind: sum(row.kind == kind for row in rows) for kind in {row.kind for row in rows}}
    return [_weighted(row, len(rows) / len(counts) / counts[row.kind]) for row in rows]


def _claim(row: dict[str, Any]) -> str:
    return " ".join(_MARKER.sub("", row["claim"]).split())


def _references(row: dict[str, Any]) -> str:
    return "\n".join(_MARKER.sub("", reference).strip() for reference in row["references"]).strip()


def _linked(pairs: list[tuple[str, str]]) -> list[str]:
    """One group name per pair; pairs that share a premise or a claim, even through others, share the group."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    for premise, claim in pairs:
        parent[root("p" + premise)] = root("c" + claim)
    return [root("p" + premise) for premise, _ in pairs]
