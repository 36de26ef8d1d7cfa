"""Signatures taken apart: which numbers may share a column, and which judge made them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from leaderboard.records import JudgeName
from scorer import judges
from scorer.signature import without_labels

# Judges whose modules bring a model's libraries, which a web process may lack: title and the number's name.
_MODELS = {
    "small": ("Small (support score)", "Support score"),
    "google/t5_xxl_true_nli_mixture": ("T5-11B, TRUE mixture", "AutoAIS"),
}


def recipe_of(signature: str) -> str:
    """A signature without the labels used: scores that agree in it may share a ranked column."""
    return without_labels(signature)


def columns_of(recipes: Mapping[int, str]) -> list[str]:
    """The different recipes among evaluation id → recipe: the commonest first, the newer at a tie."""
    counts = Counter(recipes.values())
    newest = {recipe: evaluation_id for evaluation_id, recipe in sorted(recipes.items())}
    return sorted(counts, key=lambda recipe: (-counts[recipe], -newest[recipe]))


def difference(recipe: str, main: str) -> str:
    """What sets a recipe apart from the main one, in its own words."""
    own, others = recipe.split("|"), main.split("|")
    left = ", ".join(part for part in own if part not in others) or "nothing more"
    right = ", ".join(part for part in others if part not in own) or "nothing more"
    return f"Scored under another recipe, so not ranked with the main column: {left} here, {right} there."


def judge_of(signature: str) -> JudgeName | None:
    """The judge that a signature names, or None for a number that needs none."""
    named = next((part for part in signature.split("|") if part.startswith("judge:")), None)
    if named is None:
        return None
    name = named.removeprefix("judge:").partition("@")[0]
    if name in _MODELS:
        return JudgeName(name, *_MODELS[name])
    if "tmpl:aqa+minicheck" in signature.split("|"):
        return JudgeName(name, f"MiniCheck {name}", "MiniCheck support")
    return _registered(name) or JudgeName(name, name, f"Entailment by {name}")


def _registered(name: str) -> JudgeName | None:
    """The names a judge without a checkpoint gives itself, read from its class: nothing is loaded."""
    entry = judges.REGISTRY.get(name)
    if entry is None or name in judges.EXTRAS:
        return None
    for held in vars(import_module(entry.partition(":")[0])).values():
        if isinstance(held, type) and getattr(held, "key", None) == name:
            judge: Any = held
            return JudgeName(name, judge.title, judge.score_name, judge.help)
    return None


def resampling(recipe: str) -> tuple[int, int]:
    """The number of resamples and their seed that a recipe names, so that figures beside it use the same."""
    named = dict(part.split(":", 1) for part in recipe.split("|") if ":" in part)
    return int(named["bs"]), int(named["seed"])
