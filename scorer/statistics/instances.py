"""AutoAIS against AIS on single questions: confusion, phi, ROC AUC, with intervals over questions (AQA section 5.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorer.statistics.measured import Measured, measured
from scorer.statistics.resamples import Floats, Resamples
from scorer.statistics.roc import Series, auc, auc_drawn, auc_without

Part = tuple[ArrayLike, ArrayLike, ArrayLike]
"""The judge's decisions (n,), its p (n,), and human labels (n,) on the same rated questions."""

_NO_QUESTIONS = "no rated questions"
_SAME_LABEL = "every question has the same human label"
_SAME_DECISION = "the judge decides every question alike"


@dataclass(frozen=True, slots=True)
class Instances:
    """Counts of (judge, raters): both yes, only the judge, only the raters, both no; phi and AUC of these `n` pairs.

    `questions` are those that the intervals draw anew, each with all of its pairs.
    """

    n: int
    questions: int
    both: int
    judge_only: int
    raters_only: int
    neither: int
    phi: Measured
    auc: Measured


def instances(parts: Sequence[Part], resamples: Resamples) -> list[Instances]:
    """Compare each system's decisions with human labels; `resamples` are of the questions that it has labels for.

    An absent attribution has decision 0 and p 0. phi is Pearson r of two 0/1 series; AUC is the chance that an
    attributable answer has the higher p, ties half (Mann-Whitney). Raises ValueError for shapes that do not fit,
    values that are not finite, and decisions or labels other than 0 and 1.
    """
    checked = [_checked(part) for part in parts]
    if any(len(human) != resamples.n for _, _, human in checked):
        raise ValueError(f"resamples of {resamples.n} questions do not fit the labels")
    return _instances([(*part, np.arange(resamples.n)) for part in checked], resamples)


def pooled(parts: Sequence[Part], questions: Sequence[ArrayLike], resamples: Resamples) -> Instances:
    """All systems' pairs laid end to end; `questions` (n,) of each part says which of those resampled a pair is on.

    A question is drawn with all the answers to it, since they are no independent evidence. Raises as `instances`.
    """
    checked = [_checked(part) for part in parts]
    joined = [np.concatenate([each[at] for each in checked]) for at in range(3)]
    of = np.concatenate([np.asarray(each, dtype=np.intp) for each in questions])
    if len(of) != len(joined[0]) or (len(of) and not 0 <= of.min() <= of.max() < resamples.n):
        raise ValueError("questions do not fit the labels or the resamples")
    return _instances([(joined[0], joined[1], joined[2], of)], resamples)[0]


def _checked(part: Part) -> tuple[Floats, Floats, Floats]:
    judged, scores, human = (np.asarray(each, dtype=np.float64) for each in part)
    if judged.ndim != 1 or not judged.shape == scores.shape == human.shape:
        raise ValueError(f"shapes {judged.shape}, {scores.shape} and {human.shape} do not fit")
    if not np.isin([judged, human], (0, 1)).all() or not np.isfinite(scores).all():
        raise ValueError("decisions and labels must be 0 or 1, and p finite")
    return judged, scores, human


def _instances(parts: Sequence[tuple[Floats, Floats, Floats, NDArray[np.intp]]], drawn: Resamples) -> list[Instances]:
    # (questions, 4): both yes, only the judge, only the raters, both no.
    tables = [
        np.stack([np.bincount(of, each, drawn.n) for each in _cells(judged, human)], axis=1).astype(np.float64)
        for judged, _, human, of in parts
    ]
    sums = drawn.totals(np.hstack(tables)).reshape(drawn.count, len(parts), 4) if parts else np.empty((0, 0, 4))
    series = [Series(scores, human, of) for _, scores, human, of in parts]
    able = [at for at, each in enumerate(series) if not each.constant]
    curves = auc_drawn([series[at] for at in able], drawn)
    found = []
    for at, table in enumerate(tables):
        counts = table.sum(axis=0)
        area = _no_auc(len(series[at].of))
        if at in able:
            area = measured_auc(series[at], curves[:, able.index(at)], drawn.n)
        both, judge_only, raters_only, neither = (int(each) for each in counts)
        phi = _phi(table, counts, sums[:, at])
        found.append(Instances(phi.n, drawn.n, both, judge_only, raters_only, neither, phi, area))
    return found


def measured_auc(series: Series, drawn: Floats, questions: int) -> Measured:
    """The AUC of a series that is not constant with its interval from `auc_drawn`'s column."""
    return measured(auc(series), len(series.of), drawn, auc_without(series, questions))


def _cells(judged: Floats, human: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    return judged * human, judged * (1 - human), (1 - judged) * human, (1 - judged) * (1 - human)


def _no_auc(n: int) -> Measured:
    return Measured(None, n, reason=_SAME_LABEL if n else _NO_QUESTIONS)


def _phi(table: Floats, counts: Floats, drawn: Floats) -> Measured:
    n = int(counts.sum())
    both, judge_only, raters_only, neither = counts.tolist()
    if not n:
        return Measured(None, 0, reason=_NO_QUESTIONS)
    if not both + judge_only or not raters_only + neither:
        return Measured(None, n, reason=_SAME_DECISION)
    if not both + raters_only or not judge_only + neither:
        return Measured(None, n, reason=_SAME_LABEL)
    return measured(float(_phis(counts[None])[0]), n, _phis(drawn), _phis(counts - table))


def _phis(counts: Floats) -> Floats:
    """phi of rows of (both, judge only, raters only, neither); NaN where a margin is empty."""
    both, judge_only, raters_only, neither = counts.T
    judged, human = both + judge_only, both + raters_only
    margins = judged * (raters_only + neither) * human * (judge_only + neither)
    cross = both * neither - judge_only * raters_only
    return np.asarray(np.where(margins > 0, cross / np.sqrt(np.where(margins > 0, margins, 1)), np.nan))
