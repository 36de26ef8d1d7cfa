"""The smallest difference between two systems that a benchmark of n questions can detect."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scorer.statistics.extras import require


@dataclass(frozen=True, slots=True)
class Detectable:
    """The smallest true difference that a paired t test finds with this power, or None with the reason."""

    difference: float | None
    n: int
    alpha: float
    power: float
    reason: str | None = None


def from_deviation(n: int, deviation: float, alpha: float = 0.05, power: float = 0.8) -> Detectable:
    """Smallest detectable difference from the standard deviation of the differences per question."""
    if not math.isfinite(deviation) or deviation < 0:
        raise ValueError("a standard deviation is a finite number, at least 0")
    effect = _effect(n, alpha, power)
    if effect is None:
        return Detectable(None, n, alpha, power, "fewer than 2 questions")
    return Detectable(effect * deviation, n, alpha, power)


def from_discordance(n: int, discordance: float, alpha: float = 0.05, power: float = 0.8) -> Detectable:
    """Smallest detectable difference of two rates, given the share of questions that only one has right.

    For 0/1 metrics the variance of a difference is discordance - difference**2 (Connor 1987), which is solved
    for the difference; a difference cannot exceed the discordance.
    """
    if not 0 <= discordance <= 1:
        raise ValueError("a discordance is a share between 0 and 1")
    effect = _effect(n, alpha, power)
    if effect is None:
        return Detectable(None, n, alpha, power, "fewer than 2 questions")
    difference = effect * math.sqrt(discordance / (1 + effect**2))
    if discordance == 0 or difference > discordance:
        return Detectable(None, n, alpha, power, "too few questions tell such systems apart at this n")
    return Detectable(difference, n, alpha, power)


def _effect(n: int, alpha: float, power: float) -> float | None:
    """Smallest detectable standardised difference (two-sided paired t, by statsmodels)."""
    if n < 2:
        return None
    solver = require("statsmodels.stats.power").TTestPower()
    return float(solver.solve_power(nobs=n, alpha=alpha, power=power, alternative="two-sided"))
