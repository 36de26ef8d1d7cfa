"""Which snippets a report shows: at most M, chosen so that together they fit all the questions best (RARR §3)."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

EXACT_UP_TO = 16_000
"""Sets of snippets that are all compared; above, snippets are added one by one."""
_DIGITS = 9
"""Sums that differ by less are equal, so that the order of adding decides nothing."""


def chosen(scores: npt.NDArray[np.float64], most: int) -> tuple[list[int], str]:
    """The snippets to show, in their order, and how they were chosen: `all`, `exact` or `greedy`.

    `scores` is questions × snippets. Coverage is the sum over questions of the best score among the chosen, scores
    below 0 counting as 0. A further snippet never covers less, so there are `most` of them, or all; of equal sets the
    first stands. Greedy choice reaches at least 1 - 1/e of the best coverage (it is monotone and submodular).
    """
    gains = np.maximum(scores, 0.0)
    count = gains.shape[1]
    if count <= most:
        return list(range(count)), "all"
    if comb(count, most) <= EXACT_UP_TO:
        sets = np.array(list(combinations(range(count), most)))
        totals = sum((row[sets].max(axis=1) for row in gains), np.zeros(len(sets)))
        return [int(at) for at in sets[int(np.argmax(np.round(totals, _DIGITS)))]], "exact"
    return sorted(_greedy(gains, most)), "greedy"


def coverage(scores: npt.NDArray[np.float64], shown: list[int]) -> float:
    """The sum over questions of the best score among the shown snippets; 0 of none."""
    return float(np.maximum(scores[:, shown], 0.0).max(axis=1).sum()) if shown else 0.0


def _greedy(gains: npt.NDArray[np.float64], most: int) -> list[int]:
    shown: list[int] = []
    held = np.zeros(gains.shape[0])
    for _ in range(most):
        totals = np.round(np.maximum(gains, held[:, None]).sum(axis=0), _DIGITS)
        totals[shown] = -1.0
        shown.append(int(np.argmax(totals)))
        held = np.maximum(held, gains[:, shown[-1]])
    return shown
