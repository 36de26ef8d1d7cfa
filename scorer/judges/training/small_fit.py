"""Fits, cross-validates and exports the small judge's models (scikit-learn, extra `train`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from scorer.judges.small_model import Model, model

Floats = npt.NDArray[np.float64]
FOLDS = 8


@dataclass(frozen=True, slots=True)
class Recipe:
    """What cross-validation chooses between: regularisation and how much the trees count in the logit."""

    c: float
    share: float


RECIPES = (
    Recipe(0.001, 0.0), Recipe(0.01, 0.0), Recipe(0.1, 0.0),
    Recipe(0.01, 0.5), Recipe(0.1, 0.5), Recipe(0.1, 1.0),
)  # fmt: skip


def fit(names: list[str], x: Floats, y: npt.NDArray[np.bool_], weight: Floats, recipe: Recipe) -> dict[str, Any]:
    """The model in its JSON form; deterministic."""
    scaler = StandardScaler().fit(x, sample_weight=weight)
    linear = LogisticRegression(C=recipe.c, max_iter=5000).fit(scaler.transform(x), y, sample_weight=weight)
    content: dict[str, Any] = {
        "features": names,
        "linear": {
            "mean": scaler.mean_.tolist(),
            "scale": scaler.scale_.tolist(),
            "weights": linear.coef_[0].tolist(),
            "intercept": float(linear.intercept_[0]),
        },
        "trees_share": recipe.share,
    }
    if recipe.share:
        content["trees"] = _exported(boosted(x, y, weight))
    return content


def boosted(x: Floats, y: npt.NDArray[np.bool_], weight: Floats) -> HistGradientBoostingClassifier:
    """The boosted trees before export."""
    return HistGradientBoostingClassifier(
        max_depth=4, learning_rate=0.05, max_iter=150, min_samples_leaf=40, l2_regularization=5.0,
        early_stopping=False, random_state=0,
    ).fit(x, y, sample_weight=weight)  # fmt: skip


def _exported(trees: HistGradientBoostingClassifier) -> dict[str, Any]:
    feature: list[int] = []
    threshold: list[float] = []
    left: list[int] = []
    right: list[int] = []
    value: list[float] = []
    roots: list[int] = []
    for (predictor,) in trees._predictors:
        offset = len(feature)
        roots.append(offset)
        for k, node in enumerate(predictor.nodes):
            leaf = bool(node["is_leaf"])
            feature.append(0 if leaf else int(node["feature_idx"]))
            threshold.append(0.0 if leaf else float(node["num_threshold"]))
            left.append(offset + (k if leaf else int(node["left"])))
            right.append(offset + (k if leaf else int(node["right"])))
            value.append(round(float(node["value"]), 9) if leaf else 0.0)
    return {
        "depth": max(predictor.get_max_depth() for (predictor,) in trees._predictors),
        "start": float(np.ravel(trees._baseline_prediction)[0]),
        "feature": feature, "threshold": threshold, "left": left, "right": right, "value": value, "roots": roots,
    }  # fmt: skip


def predict(fitted: Model, x: Floats) -> Floats:
    """Scores of a feature matrix whose columns are in the order of the model's names."""
    return np.array([fitted.probability(dict(zip(fitted.names, row, strict=True))) for row in x])


def cross_validate(
    names: list[str], x: Floats, y: npt.NDArray[np.bool_], weight: Floats, groups: list[str], recipe: Recipe
) -> Floats:
    """Out-of-fold scores: each row's by a model that saw no row of its group."""
    out = np.full(len(y), np.nan)
    for train, test in GroupKFold(FOLDS).split(x, y, groups):
        out[test] = predict(model(fit(names, x[train], y[train], weight[train], recipe)), x[test])
    return out


def calibration_error(p: Floats, y: npt.NDArray[np.bool_], bins: int = 10) -> float:
    """Expected calibration error over equal-width bins."""
    places = np.minimum((p * bins).astype(int), bins - 1)
    gaps = [abs(p[places == b].mean() - y[places == b].mean()) * (places == b).mean() for b in np.unique(places)]
    return float(sum(gaps))


def figures(kinds: list[str], y: npt.NDArray[np.bool_], p: Floats, against: tuple[str, ...]) -> dict[str, Any]:
    """AUCs of supported rows against each kind, shares accepted at 0.5, calibration."""
    kind = np.array(kinds)
    found: dict[str, Any] = {"auc": {}, "accepted": {}, "ece": {}}
    for name in against:
        chosen = (kind == name) if name == "human" or "gold" not in kinds else (kind == "gold") | (kind == name)
        found["auc"][name] = round(float(roc_auc_score(y[chosen], p[chosen])), 4)
        found["ece"][name] = round(calibration_error(p[chosen], y[chosen]), 4)
        said, truth = p[chosen] >= 0.5, y[chosen]
        balanced = ((said & truth).sum() / truth.sum() + (~said & ~truth).sum() / (~truth).sum()) / 2
        found.setdefault("balanced_accuracy", {})[name] = round(float(balanced), 4)
    for name in sorted(set(kinds)):
        found["accepted"][name] = round(float((p[kind == name] >= 0.5).mean()), 4)
    return found
