"""The fitted part of the small judge: a logistic regression and boosted trees over named features."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Trees:
    """Binary trees as flat arrays; a leaf points to itself, so that walking on from it stays there."""

    feature: npt.NDArray[np.int64]
    threshold: Floats
    left: npt.NDArray[np.int64]
    right: npt.NDArray[np.int64]
    value: Floats
    roots: npt.NDArray[np.int64]
    depth: int
    start: float

    def logit(self, row: Floats) -> float:
        """Sum of the leaves that a row of features reaches."""
        at = self.roots
        for _ in range(self.depth):
            at = np.where(row[self.feature[at]] <= self.threshold[at], self.left[at], self.right[at])
        return float(self.start + self.value[at].sum())


@dataclass(frozen=True, slots=True)
class Model:
    """p = sigmoid((1 − share) · linear + share · trees) over features in the order of `names`."""

    names: tuple[str, ...]
    mean: Floats
    scale: Floats
    weights: Floats
    intercept: float
    trees: Trees | None
    share: float

    def logit(self, row: Floats) -> float:
        """The log-odds of support for a row of features in the order of `names`."""
        linear = float((row - self.mean) / self.scale @ self.weights + self.intercept)
        return linear if self.trees is None else (1 - self.share) * linear + self.share * self.trees.logit(row)

    def probability(self, features: dict[str, float]) -> float:
        """The support score in [0, 1]. Raises `KeyError` for a missing feature."""
        return float(1 / (1 + np.exp(-self.logit(np.array([features[name] for name in self.names])))))


@dataclass(frozen=True, slots=True)
class Fitted:
    """Both modes' models, the encoder's digests they were fitted on, and the digest of the whole file."""

    version: int
    digest: str
    encoder: dict[str, str]
    qa: Model
    claim: Model


def load() -> Fitted:
    """The shipped weights."""
    raw = files("scorer.judges").joinpath("small_weights.json").read_bytes()
    content = json.loads(raw)
    return Fitted(
        version=content["version"],
        digest=hashlib.sha256(raw).hexdigest(),
        encoder=content["encoder"]["sha256"],
        qa=model(content["models"]["qa"]),
        claim=model(content["models"]["claim"]),
    )


def model(content: dict[str, Any]) -> Model:
    """A model from its JSON form."""
    linear, trees = content["linear"], content.get("trees")
    return Model(
        names=tuple(content["features"]),
        mean=np.array(linear["mean"]),
        scale=np.array(linear["scale"]),
        weights=np.array(linear["weights"]),
        intercept=linear["intercept"],
        trees=None if trees is None else _trees(trees),
        share=content["trees_share"],
    )


def _trees(content: dict[str, Any]) -> Trees:
    return Trees(
        feature=np.array(content["feature"], dtype=np.int64),
        threshold=np.array(content["threshold"]),
        left=np.array(content["left"], dtype=np.int64),
        right=np.array(content["right"], dtype=np.int64),
        value=np.array(content["value"]),
        roots=np.array(content["roots"], dtype=np.int64),
        depth=content["depth"],
        start=content["start"],
    )
