"""How intervals are made, by the names and in the words that readers meet."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Method:
    """A way to an interval: its usual name and one sentence; `{items}` in it stands for what a benchmark is made of."""

    name: str
    help: str


METHODS: dict[str, Method] = {
    "bca": Method(
        "BCa",
        "Bias-corrected and accelerated bootstrap: {items} are drawn anew 9,999 times by default, and the ends are "
        "shifted for bias and skew (Efron 1987).",
    ),
    "percentile": Method(
        "percentile", "Percentile bootstrap: where BCa is undefined, the ends are plain percentiles of the resamples."
    ),
    "wilson": Method("Wilson", "Wilson's score interval: where all or none of the {items} count, no resample differs."),
    "none": Method("–", "No interval is defined."),
}


def method_name(key: str) -> str:
    """The usual name of a method."""
    return METHODS[key].name if key in METHODS else key


def method_help(key: str, items: str = "questions") -> str:
    """One sentence on a method, of a benchmark's `items`; empty for a method that is not listed."""
    return METHODS[key].help.format(items=items) if key in METHODS else ""
