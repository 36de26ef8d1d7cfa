"""The metrics by track; a new one is a file and a line here."""

from __future__ import annotations

from importlib import import_module

from core.ports import Metric
from core.tracks import EDITING, QA

REGISTRY: dict[str, str] = {
    "em": "scorer.metrics.exact_match:ExactMatch",
    "f1": "scorer.metrics.token_f1:TokenF1",
    "autoais": "scorer.metrics.autoais:AutoAis",
    "ais": "scorer.metrics.ais:Ais",
    "em_lenient": "scorer.metrics.lenient:LenientExactMatch",
    "em_compat": "scorer.metrics.compat:CompatExactMatch",
    "f1_compat": "scorer.metrics.compat:CompatF1",
}
EDITING_REGISTRY: dict[str, str] = {
    "f1_ap": "scorer.editing.f1_ap:F1Ap",
    "attr_ais": "scorer.editing.attribution:AttrAis",
    "pres_comb": "scorer.editing.preservation:PresComb",
    "pres_intent": "scorer.editing.preservation:PresIntent",
    "f1_ap_auto": "scorer.editing.f1_ap:F1ApAuto",
    "attr_auto": "scorer.editing.attribution:AttrAuto",
    "pres_lev": "scorer.editing.preservation:PresLev",
    "attr_auto_before": "scorer.editing.attribution:AttrAutoBefore",
    "attr_ais_before": "scorer.editing.attribution:AttrAisBefore",
}
TRACKS: dict[str, dict[str, str]] = {QA: REGISTRY, EDITING: EDITING_REGISTRY}
RANKED_FIRST: dict[str, tuple[str, ...]] = {QA: ("ais", "autoais"), EDITING: ("f1_ap", "f1_ap_auto")}
"""By which metrics each track's boards are ranked, the first that can be."""


def load(key: str) -> Metric:
    """The metric of that key, of any track. Raises `KeyError`."""
    entry = {key: entry for registry in TRACKS.values() for key, entry in registry.items()}[key]
    module, name = entry.split(":")
    metric: Metric = getattr(import_module(module), name)()
    return metric


def load_all(track: str = QA) -> list[Metric]:
    """All metrics of a track in the order of the board's columns."""
    return [load(key) for key in TRACKS[track]]


def all_keys() -> list[str]:
    """The keys of all metrics, track by track, in the order of the boards' columns."""
    return [key for registry in TRACKS.values() for key in registry]


def harmonic_of(key: str) -> tuple[str, str] | None:
    """The two metrics whose harmonic mean this one is; None for a metric that is a mean itself, or an unknown key."""
    found: tuple[str, str] | None = getattr(load(key), "harmonic_of", None) if key in all_keys() else None
    return found
