"""Intervals of AIS that carry rater noise too: questions and, within each, raters are resampled."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from core.majority import strict_majority
from core.records import Interval
from scorer.statistics.intervals import NONE, Estimate, wilson
from scorer.statistics.resamples import Resamples


def estimate_with_raters(
    positive: ArrayLike, raters: ArrayLike, resamples: Resamples, confidence: float = 0.95
) -> Estimate:
    """AIS of questions with `positive` of `raters` votes, both (n,), with the two-stage bootstrap interval.

    Each time a question is drawn, as many raters as it has are drawn from its own with replacement and vote
    anew. So c copies of it hold Binomial(c, q) attributable ones, with q = P(Binomial(raters, positive / raters)
    > raters / 2): drawn as such, without a loop over votes. Redrawing a panel from the panel that made the label
    moves the mean (3 of 5 votes become attributable in 68 % of panels); the resamples are moved back by that, so
    that the percentile ends lie about the published value. Method `percentile`, `wilson` where every panel is
    unanimous and alike, `none` for n = 0. Raises ValueError for impossible votes.
    """
    from scipy.stats import binom

    votes, panels = np.asarray(positive, dtype=np.int64), np.asarray(raters, dtype=np.int64)
    if votes.shape != (resamples.n,) or panels.shape != votes.shape:
        raise ValueError(f"votes of shape {votes.shape} do not fit resamples of {resamples.n} questions")
    if ((panels < 1) | (votes < 0) | (votes > panels)).any():
        raise ValueError("positive votes must lie between 0 and the number of raters, at least 1")
    if resamples.n == 0:
        return Estimate(None, 0, NONE, "no questions")
    value = float(np.mean([strict_majority(int(v), int(r)) for v, r in zip(votes, panels, strict=True)]))
    chance = binom.sf(panels // 2, panels, votes / panels)
    if chance.min() == chance.max() and value in (0, 1) and chance[0] in (0, 1):
        ends = wilson(int(value) * resamples.n, resamples.n, confidence)
        return Estimate(value, resamples.n, Interval(*ends, 0.0 if resamples.n > 1 else None, "wilson"))
    distinct, group = np.unique(chance, return_inverse=True)
    copies = resamples.totals(np.eye(len(distinct))[group]).astype(np.int64)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([resamples.seed, resamples.n, 1])))
    drawn = rng.binomial(copies, distinct).sum(axis=1) / resamples.n
    centred = drawn + (value - chance.mean())
    low, high = np.clip(np.quantile(centred, [(1 - confidence) / 2, (1 + confidence) / 2]), 0, 1)
    interval = Interval(float(low), float(high), float(drawn.std(ddof=1)), "percentile")
    return Estimate(value, resamples.n, interval)
