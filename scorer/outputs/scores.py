"""`scores.json`: every metric with its interval, n and recipe; what is undefined is null with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from core.records import Place, Score
from scorer import metrics
from scorer.outputs.record import Outputs

_PLACE = tuple(field.name for field in fields(Place))


def judge_name(signature: str) -> str:
    """The judge of a signature, e.g. `token-overlap@1` of `judge:token-overlap@1|tmpl:aqa`."""
    first = signature.partition("|")[0]
    return first.removeprefix("judge:")


def scores_document(outputs: Outputs) -> dict[str, Any]:
    """JSON-ready: values in [0, 1], unrounded; `value` is null exactly where `reason` stands.

    What is in it comes in one order, whichever database it was read from, so that the same scores are the same bytes.
    `report` holds the counts of what reading the file found, `places` the first 1,000 places of it.
    """
    name = judge_name(outputs.judge)
    blocks = {key: _block(score) for key, score in outputs.scores.items()}
    for key, block in blocks.items():
        if "judge" in metrics.load(key).rests_on:
            block["judge"] = name
    return {
        "benchmark": outputs.benchmark.id,
        "digest": outputs.digest,
        "judge": name,
        "signature": outputs.signature,
        "synthetic_ratings": outputs.synthetic,
        "metrics": blocks,
        "report": in_order(outputs.report["counts"]),
        "notes": list(outputs.report["notes"]),
        "places": [{name: place[name] for name in _PLACE} for place in outputs.report["places"]],
    }


def in_order(value: Any) -> Any:
    """The same with all keys sorted: a database may give them back in an order of its own."""
    if isinstance(value, Mapping):
        return {key: in_order(value[key]) for key in sorted(value)}
    return [in_order(each) for each in value] if isinstance(value, list | tuple) else value


def _block(score: Score) -> dict[str, Any]:
    interval = score.interval
    block: dict[str, Any] = {
        "value": score.value,
        "n": score.n,
        "low": interval.low,
        "high": interval.high,
        "se": interval.se,
        "method": interval.method,
        "signature": score.signature,
    }
    if score.reason is not None:
        block["reason"] = score.reason
    return block | {"details": in_order(score.details)}
