"""AutoAIS against AIS on single questions: confusion, phi, ROC AUC (AQA section 5.5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scorer.statistics.resamples import Floats


@dataclass(frozen=True, slots=True)
class Instances:
    """Counts of (judge, raters): both yes, only the judge, only the raters, both no; phi and AUC or a reason."""

    n: int
    both: int
    judge_only: int
    raters_only: int
    neither: int
    phi: float | None
    phi_reason: str | None
    auc: float | None
    auc_reason: str | None


def instances(decisions: ArrayLike, probabilities: ArrayLike, ais: ArrayLike) -> Instances:
    """Compare the judge's decisions (n,) and p (n,) with human labels (n,), all on the same rated questions.

    An absent attribution has decision 0 and p 0. phi is Pearson r of two 0/1 series; AUC is the chance that an
    attributable answer has the higher p, ties half (Mann-Whitney, by SciPy). Raises ValueError for shapes that do
    not fit, values that are not finite, and decisions or labels other than 0 and 1.
    """
    judged, scores, human = (np.asarray(each, dtype=np.float64) for each in (decisions, probabilities, ais))
    if judged.ndim != 1 or not judged.shape == scores.shape == human.shape:
        raise ValueError(f"shapes {judged.shape}, {scores.shape} and {human.shape} do not fit")
    if not np.isin([judged, human], (0, 1)).all() or not np.isfinite(scores).all():
        raise ValueError("decisions and labels must be 0 or 1, and p finite")
    both = int((judged * human).sum())
    judge_only = int(judged.sum()) - both
    raters_only = int(human.sum()) - both
    neither = len(human) - both - judge_only - raters_only
    phi, phi_reason = _phi(both, judge_only, raters_only, neither)
    auc, auc_reason = _auc(scores, human)
    return Instances(len(human), both, judge_only, raters_only, neither, phi, phi_reason, auc, auc_reason)


def pooled(systems: Sequence[tuple[ArrayLike, ArrayLike, ArrayLike]]) -> Instances:
    """`instances` of all systems' (decisions, probabilities, ais) laid end to end."""
    parts = [np.concatenate([np.asarray(each[at], dtype=np.float64) for each in systems]) for at in range(3)]
    return instances(*parts)


def _phi(both: int, judge_only: int, raters_only: int, neither: int) -> tuple[float | None, str | None]:
    judged, human = both + judge_only, both + raters_only
    others = raters_only + neither, judge_only + neither
    if both + judge_only + raters_only + neither == 0:
        return None, "no rated questions"
    if not judged or not others[0]:
        return None, "the judge decides every question alike"
    if not human or not others[1]:
        return None, "every question has the same human label"
    return (both * neither - judge_only * raters_only) / math.sqrt(judged * others[0] * human * others[1]), None


def _auc(scores: Floats, human: Floats) -> tuple[float | None, str | None]:
    from scipy.stats import mannwhitneyu

    yes, no = scores[human == 1], scores[human == 0]
    if len(human) == 0:
        return None, "no rated questions"
    if len(yes) == 0 or len(no) == 0:
        return None, "every question has the same human label"
    return float(mannwhitneyu(yes, no, method="asymptotic").statistic / (len(yes) * len(no))), None
