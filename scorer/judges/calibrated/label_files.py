"""Files of labelled pairs to learn from: pairs with `supported`, or AttributionBench's rows of claims."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import Refused
from core.records import Pair, Place
from core.text import canonical_question
from scorer.judges.calibrated.judge import group_of
from scorer.pair_files import pair_of, rows_of

_SPELLED: dict[Any, float] = {True: 1.0, False: 0.0, "attributable": 1.0, "not attributable": 0.0}
_MARKER = re.compile(r"\[\d+\]")
_MAX_PLACES = 1_000


@dataclass(frozen=True)
class LabelledPairs:
    """Pairs with their labels (0 or 1), the question of each, and where it is from (empty where nothing is said)."""

    pairs: list[Pair]
    labels: list[float]
    groups: list[str]
    sources: list[str]


def read_labelled(path: Path) -> LabelledPairs:
    """The rows of a JSONL file that can be judged. Raises `NotFound`, `InvalidInput`, `Refused` naming bad rows.

    A row of AttributionBench without a claim or without evidence is left out: nothing can be judged.
    """
    found = LabelledPairs([], [], [], [])
    bad: list[Place] = []
    for number, line, row in rows_of(path):
        said = None if row is None else row.get("supported", row.get("attribution_label"))
        known = isinstance(said, (bool, int, str)) and said in _SPELLED
        pair = _pair(row) if row is not None and known else None
        if row is None or pair is None:
            message = "needs a pair (or claim and references) and supported: true or false (or attribution_label)"
            bad.append(Place(number, "label", message, line[:80].decode("utf-8", "replace")))
        elif pair.premise.strip() and pair.hypothesis.strip():
            question = row.get("question")
            asked = canonical_question(question) if isinstance(question, str) and question.strip() else ""
            found.pairs.append(pair)
            found.labels.append(_SPELLED[said])
            found.groups.append(asked or group_of(pair))
            found.sources.append(str(row.get("source", row.get("src_dataset", ""))))
    if bad or not found.pairs:
        first = f"{len(bad):,} lines are not labelled pairs, the first: line {bad[0].row}." if bad else "It holds none."
        raise Refused(f"{path.name} was refused. {first}", "Mend the lines named.", tuple(bad[:_MAX_PLACES]))
    return found


def _pair(row: Mapping[str, Any]) -> Pair | None:
    claim, references = row.get("claim"), row.get("references")
    if (
        not isinstance(claim, str)
        or not isinstance(references, list)
        or not all(isinstance(r, str) for r in references)
    ):
        return pair_of(row)
    premise = "\n".join(_MARKER.sub("", reference).strip() for reference in references).strip()
    return Pair(premise, " ".join(_MARKER.sub("", claim).split()))
