"""The metrics, one file each; a new one is a file and a line here."""

from __future__ import annotations

from importlib import import_module

from core.ports import Metric

REGISTRY: dict[str, str] = {
    "em": "scorer.metrics.exact_match:ExactMatch",
    "f1": "scorer.metrics.token_f1:TokenF1",
    "autoais": "scorer.metrics.autoais:AutoAis",
    "ais": "scorer.metrics.ais:Ais",
    "em_lenient": "scorer.metrics.lenient:LenientExactMatch",
    "em_compat": "scorer.metrics.compat:CompatExactMatch",
    "f1_compat": "scorer.metrics.compat:CompatF1",
}


def load(key: str) -> Metric:
    """The metric of that key. Raises `KeyError`."""
    module, name = REGISTRY[key].split(":")
    metric: Metric = getattr(import_module(module), name)()
    return metric


def load_all() -> list[Metric]:
    """All metrics in the order of the board's columns."""
    return [load(key) for key in REGISTRY]
