"""Maps from a judge's p to the share of pairs that people called attributable: Platt's, with lengths or not, isotonic.

No map sees an architecture, a system or a question: p alone, and the two lengths where the method says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scorer.statistics.resamples import Floats

PLATT, PLATT_LENGTH, ISOTONIC = "platt", "platt+length", "isotonic"
METHODS: dict[str, str] = {
    PLATT: "logistic regression on the log-odds of p",
    PLATT_LENGTH: "logistic regression on the log-odds of p and the logarithms of both lengths in words",
    ISOTONIC: "the non-decreasing step through p that is closest to the labels, linear between steps",
}
CLIP = 0.01
"""p is moved into [CLIP, 1 - CLIP] before its log-odds are taken: a word overlap of exactly 0 or 1 is no certainty."""


@dataclass(frozen=True)
class Map:
    """A fitted map: the coefficients of a Platt map, or the corners (x, y) of an isotonic one."""

    method: str
    coefficients: tuple[float, ...] = ()
    x: tuple[float, ...] = ()
    y: tuple[float, ...] = ()

    def __call__(self, p: ArrayLike, lengths: ArrayLike | None = None) -> Floats:
        """Calibrated p, (n,) to (n,); `lengths` (n, 2) are the words of premise and hypothesis."""
        values = np.asarray(p, dtype=np.float64)
        if self.method == ISOTONIC:
            return np.interp(values, self.x, self.y)
        from scipy.special import expit

        return np.asarray(expit(_design(self.method, values, lengths) @ np.array(self.coefficients)))

    @property
    def falls(self) -> bool:
        """True where a larger p means a smaller chance: the judge was wrong more often than right."""
        return bool(self.coefficients) and self.coefficients[1] < 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a file."""
        return {"method": self.method, "coefficients": self.coefficients, "x": self.x, "y": self.y}

    @classmethod
    def from_dict(cls, said: dict[str, Any]) -> Map:
        """The map that `to_dict` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        numbers = (tuple(float(value) for value in said[name]) for name in ("coefficients", "x", "y"))
        if said["method"] not in METHODS:
            raise ValueError(f"no method {said['method']!r}")
        return cls(said["method"], *numbers)


def fit(method: str, p: ArrayLike, labels: ArrayLike, lengths: ArrayLike | None = None) -> Map:
    """Fit a map to p (n,) and 0/1 labels (n,), both classes among them; `lengths` (n, 2) for `platt+length`."""
    values, truth = np.asarray(p, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    if method == ISOTONIC:
        return _isotonic(values, truth)
    return Map(method, tuple(_logistic(_design(method, values, lengths), _targets(truth)).tolist()))


def _design(method: str, p: Floats, lengths: ArrayLike | None) -> Floats:
    from scipy.special import logit

    columns = [np.ones(len(p)), logit(np.clip(p, CLIP, 1 - CLIP))]
    if method == PLATT_LENGTH:
        if lengths is None:
            raise ValueError("this method needs the lengths of premise and hypothesis")
        columns += list(np.log1p(np.asarray(lengths, dtype=np.float64)).T)
    return np.column_stack(columns)


def _targets(truth: Floats) -> Floats:
    """Platt's smoothed targets (Platt 1999, section 2.2), which keep the fit finite where p separates the classes."""
    positive = float(truth.sum())
    negative = len(truth) - positive
    return np.where(truth == 1, (positive + 1) / (positive + 2), 1 / (negative + 2))


def _logistic(design: Floats, targets: Floats) -> Floats:
    """Maximum likelihood by SciPy's trust-region Newton method, on columns scaled alike."""
    from scipy.optimize import minimize
    from scipy.special import expit

    scale = np.maximum(np.abs(design).max(axis=0), 1e-12)
    scaled = design / scale

    def loss(weights: Floats) -> tuple[float, Floats]:
        z = scaled @ weights
        gradient = scaled.T @ (expit(z) - targets) / len(targets)
        return float(np.mean(np.logaddexp(0, z) - targets * z)), gradient

    def curvature(weights: Floats) -> Floats:
        chances = expit(scaled @ weights)
        return np.asarray((scaled.T * (chances * (1 - chances))) @ scaled / len(targets))

    found = minimize(
        loss, np.zeros(design.shape[1]), jac=True, hess=curvature, method="trust-exact", options={"gtol": 1e-10}
    )
    return np.asarray(found.x / scale)


def _isotonic(p: Floats, truth: Floats) -> Map:
    """Pool adjacent violators (SciPy) over the distinct p; values stay off 0 and 1, which no finite sample shows."""
    from scipy.optimize import isotonic_regression

    x, place, counts = np.unique(p, return_inverse=True, return_counts=True)
    means = np.bincount(place, weights=truth) / counts
    y = isotonic_regression(means, weights=counts).x
    floor = 1 / (len(p) + 2)
    corner = np.ones(len(x), dtype=bool)
    corner[1:-1] = (np.diff(y)[:-1] != 0) | (np.diff(y)[1:] != 0)
    kept = np.clip(y, floor, 1 - floor)[corner]
    return Map(ISOTONIC, x=tuple(x[corner].tolist()), y=tuple(kept.tolist()))
