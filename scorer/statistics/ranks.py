"""Rank intervals: the places a system may hold, given which others are significantly better or worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scorer.statistics.paired_tests import all_pairs_of, holm, paired_t_of_many


@dataclass(frozen=True, slots=True)
class Rank:
    """The best and the worst place a system may hold among `systems` ranked ones."""

    best: int
    worst: int
    systems: int


def rank_intervals(
    values: ArrayLike, ranked: Sequence[bool] | None = None, alpha: float = 0.05
) -> tuple[Rank | None, ...]:
    """Rank interval per column of (n, systems), n at least 1, by the paired t with Holm over all ranked systems.

    Best = 1 + systems significantly better; worst = ranked systems - those significantly worse. None for a
    system that is not ranked; columns not ranked may hold anything. Raises ValueError for a ranked system with a
    value that is not finite.
    """
    columns = np.asarray(values, dtype=np.float64)
    places = np.flatnonzero(np.ones(columns.shape[1]) if ranked is None else np.asarray(ranked, dtype=bool))
    family = columns[:, places]
    if not np.isfinite(family).all() or len(family) == 0:
        raise ValueError("ranked systems need finite values on at least one question")
    first, second = all_pairs_of(len(places))
    significant = holm(paired_t_of_many(family, first, second).p) <= alpha
    ahead = family.mean(axis=0)
    first_wins = significant & (ahead[first] > ahead[second])
    second_wins = significant & (ahead[first] < ahead[second])
    size = len(places)
    wins = np.bincount(first[first_wins], minlength=size) + np.bincount(second[second_wins], minlength=size)
    losses = np.bincount(second[first_wins], minlength=size) + np.bincount(first[second_wins], minlength=size)
    found: list[Rank | None] = [None] * columns.shape[1]
    for at, place in enumerate(places):
        found[place] = Rank(1 + int(losses[at]), size - int(wins[at]), size)
    return tuple(found)
