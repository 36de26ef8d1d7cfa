"""Agreement between raters: the majority, Krippendorff's alpha, ties, and each rater against the others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.majority import strict_majority
from scorer.statistics.extras import require
from scorer.statistics.intervals import wilson


@dataclass(frozen=True, slots=True)
class RaterShare:
    """How many of a rater's `n` ratings agree with the majority or the known answer; share with Wilson ends."""

    rater: str
    n: int
    agreed: int
    share: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement over one set of ratings; `alpha` and `tie_share` are None where their reasons say why."""

    items: int
    ratings: int
    rated_twice: int
    alpha: float | None
    alpha_reason: str | None
    ties: int
    tie_share: float | None
    tie_reason: str | None
    raters: tuple[RaterShare, ...]


def agreement(items: Sequence[Hashable], raters: Sequence[str], positive: Sequence[bool]) -> Agreement:
    """Agreement of ratings given as three columns of equal length: item, rater, and whether it was positive.

    Items with one rating count in `items` and `ratings` only. Alpha is nominal (`krippendorff`). A rater is
    compared with the strict majority of the items' ratings, their own among them; tied items have no majority
    and are left out. Raises ValueError where a rater rates an item twice.
    """
    if len(set(zip(items, raters, strict=True))) != len(items):
        raise ValueError("a rater rated an item twice")
    votes: Counter[Hashable] = Counter()
    sizes: Counter[Hashable] = Counter()
    for item, yes in zip(items, positive, strict=True):
        sizes[item] += 1
        votes[item] += bool(yes)
    several = [item for item, size in sizes.items() if size > 1]
    ties = sum(2 * votes[item] == sizes[item] for item in several)
    alpha, alpha_reason = _alpha([(sizes[item] - votes[item], votes[item]) for item in several])
    majority = {item: strict_majority(votes[item], sizes[item]) for item in several if 2 * votes[item] != sizes[item]}
    return Agreement(
        items=len(sizes),
        ratings=len(items),
        rated_twice=len(several),
        alpha=alpha,
        alpha_reason=alpha_reason,
        ties=ties,
        tie_share=ties / len(several) if several else None,
        tie_reason=None if several else "no item has two ratings",
        raters=_shares(items, raters, positive, majority, "no item with a majority"),
    )


def agreement_by(
    groups: Sequence[str], items: Sequence[Hashable], raters: Sequence[str], positive: Sequence[bool]
) -> dict[str, Agreement]:
    """`agreement` within each group of ratings (a batch, a question type), in the order they first appear."""
    rows: dict[str, list[int]] = defaultdict(list)
    for at, group in enumerate(groups):
        rows[group].append(at)
    return {
        group: agreement([items[at] for at in own], [raters[at] for at in own], [positive[at] for at in own])
        for group, own in rows.items()
    }


def qualification(
    items: Sequence[Hashable], raters: Sequence[str], positive: Sequence[bool], known: Mapping[Hashable, bool]
) -> tuple[RaterShare, ...]:
    """Each rater's accuracy on items with known answers; ratings of other items are left out."""
    return _shares(items, raters, positive, known, "no item with a known answer")


def _alpha(counts: Sequence[tuple[int, int]]) -> tuple[float | None, str | None]:
    if not counts:
        return None, "no item has two ratings"
    if len({at for row in counts for at in (0, 1) if row[at]}) < 2:
        return None, "every rating is the same, so chance agreement is complete"
    value = require("krippendorff").alpha(value_counts=np.array(counts), level_of_measurement="nominal")
    return float(value), None


def _shares(
    items: Sequence[Hashable],
    raters: Sequence[str],
    positive: Sequence[bool],
    right: Mapping[Hashable, bool],
    missing: str,
) -> tuple[RaterShare, ...]:
    counted: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    for item, rater, yes in zip(items, raters, positive, strict=True):
        if item in right:
            counted[rater] += 1
            agreed[rater] += bool(yes) == right[item]
    return tuple(
        RaterShare(name, n, agreed[name], agreed[name] / n, *wilson(agreed[name], n))
        if (n := counted[name])
        else RaterShare(name, 0, 0, None, reason=missing)
        for name in sorted(set(raters))
    )
