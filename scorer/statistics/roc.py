"""ROC AUC in every resample of questions, of many series at once (Mann-Whitney, ties half)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorer.statistics.resamples import Floats, Resamples

# Counts turned round at once: enough for few passes, small enough for memory (4 or 8 bytes each).
_CELLS = 20_000_000
# From so many equal scores on, counting per question is cheaper than adding their rows.
_MANY = 32
# A table of so many questions at most is held; it pays from one pair per so many of its cells on.
_TABLE_UP_TO = 5_000
_PAYS_FROM = 16
# Halves of whole numbers are exact in float32 up to here.
_EXACT_HALVES = 2**23


@dataclass(frozen=True, slots=True)
class Series:
    """Scores (n,), labels of 0 and 1 (n,), and the question (n,) of each pair among those that are resampled."""

    scores: Floats
    labels: Floats
    of: NDArray[np.intp]

    @property
    def constant(self) -> bool:
        """Whether there is nothing to tell apart: all labels alike, or none."""
        return len(self.labels) == 0 or bool(self.labels.min() == self.labels.max())


def auc(series: Series) -> float:
    """The chance that a pair labelled 1 has the higher score, ties half; NaN for a constant series."""
    wins, yes, no = _wins(series), float(series.labels.sum()), float((1 - series.labels).sum())
    return float(wins[series.labels == 1].sum() / (yes * no)) if yes and no else float("nan")


def auc_drawn(several: Sequence[Series], resamples: Resamples) -> Floats:
    """AUC of each series in each resample of its questions, (B, series); NaN where one label alone is drawn.

    One pass over the pairs in the order of their scores, on all resamples at once: what stands below, times what comes.
    Many pairs on few questions go by a table of questions instead.
    """
    found = np.empty((resamples.count, len(several)))
    dense = [_is_dense(each, resamples.n) for each in several]
    for at in np.flatnonzero(dense).tolist():
        found[:, at] = _by_table(several[at], resamples)
    for kind in ("f4", "f8"):
        own = [at for at, each in enumerate(several) if not dense[at] and _kind(each, resamples.n) == kind]
        for start, turned in _turned(resamples, kind) if own else ():
            for at in own:
                found[start : start + turned.shape[1], at] = _of_block(several[at], turned)
    return found


def auc_without(series: Series, questions: int) -> Floats:
    """AUC without each question in turn, (questions,); NaN where one label alone is left."""
    wins = _wins(series)
    yes, no = (np.bincount(series.of, side, questions) for side in (series.labels, 1 - series.labels))
    lost = np.bincount(series.of, wins, questions)
    # A question with both labels: the pairs within it were taken off twice.
    for at in np.flatnonzero((yes > 0) & (no > 0)).tolist():
        inside = series.of == at
        own = Series(series.scores[inside], series.labels[inside], series.of[inside])
        lost[at] -= _wins(own)[own.labels == 1].sum()
    left = (yes.sum() - yes) * (no.sum() - no)
    total = wins[series.labels == 1].sum()
    return np.asarray(np.where(left > 0, (total - lost) / np.where(left > 0, left, 1), np.nan))


def _wins(series: Series) -> Floats:
    """How many pairs of the other label each pair stands on the right side of, ties half."""
    yes = np.sort(series.scores[series.labels == 1])
    no = np.sort(series.scores[series.labels == 0])
    below = (np.searchsorted(no, series.scores, "left") + np.searchsorted(no, series.scores, "right")) / 2
    above = len(yes) - (np.searchsorted(yes, series.scores, "left") + np.searchsorted(yes, series.scores, "right")) / 2
    return np.asarray(np.where(series.labels == 1, below, above))


def _is_dense(series: Series, questions: int) -> bool:
    return questions <= _TABLE_UP_TO and len(series.of) > questions**2 / _PAYS_FROM


def _by_table(series: Series, resamples: Resamples) -> Floats:
    """AUC in the resamples (B,) from how often a pair of one question beats a pair of another."""
    table = _table(series, resamples.n)
    yes, no = (np.bincount(series.of, side, resamples.n) for side in (series.labels, 1 - series.labels))
    parts = []
    for _, block in resamples.blocks():
        counts = block.astype(np.float64)
        total, pairs = np.einsum("bq,bq->b", counts @ table, counts), (counts @ yes) * (counts @ no)
        parts.append(np.where(pairs > 0, total / np.where(pairs > 0, pairs, 1), np.nan))
    return np.concatenate(parts)


def _table(series: Series, questions: int) -> Floats:
    """(questions, questions): wins of the row's pairs labelled 1 over the column's labelled 0, ties half."""
    order = np.argsort(series.scores, kind="stable")
    places, yes = series.of[order], series.labels[order] == 1
    _, starts, sizes = np.unique(series.scores[order], return_index=True, return_counts=True)
    table, below = np.zeros((questions, questions)), np.zeros(questions)
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        if size == 1:
            if yes[start]:
                table[places[start]] += below
            else:
                below[places[start]] += 1
            continue
        level = slice(start, start + size)
        ties = np.bincount(places[level][~yes[level]], minlength=questions) / 2
        below += ties
        own = np.bincount(places[level][yes[level]], minlength=questions)
        at = np.flatnonzero(own)
        table[at] += own[at, None] * below
        below += ties
    return table


def _kind(series: Series, questions: int) -> str:
    """The narrowest type in which no sum of a resample is rounded."""
    most = questions * int(np.bincount(series.of).max(initial=0))
    return "f4" if most**2 / 4 < _EXACT_HALVES else "f8"


def _turned(resamples: Resamples, kind: str) -> Iterator[tuple[int, Floats]]:
    """(first resample, counts of shape (questions, resamples)): rows of one question lie together."""
    held: list[Floats] = []
    begin, rows = 0, 0
    for start, block in resamples.blocks():
        if rows and (rows + len(block)) * resamples.n > _CELLS:
            yield begin, _joined(held)
            held, begin, rows = [], start, 0
        held.append(block.T.astype(kind, order="C"))
        rows += len(block)
    if held:
        yield begin, _joined(held)


def _joined(held: Sequence[Floats]) -> Floats:
    return held[0] if len(held) == 1 else np.ascontiguousarray(np.concatenate(held, axis=1))


def _of_block(series: Series, turned: Floats) -> Floats:
    """AUC in the resamples of one block (questions, resamples)."""
    order = np.argsort(series.scores, kind="stable")
    places, yes = series.of[order], series.labels[order] == 1
    _, starts, sizes = np.unique(series.scores[order], return_index=True, return_counts=True)
    below, total, product = (np.zeros(turned.shape[1], dtype=turned.dtype) for _ in range(3))
    half = turned.dtype.type(0.5)
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        if size == 1:
            row = turned[places[start]]
            if yes[start]:
                np.multiply(row, below, out=product)
                total += product
            else:
                below += row
            continue
        level = slice(start, start + size)
        ties = _sum(places[level][~yes[level]], turned) * half
        below += ties
        total += _sum(places[level][yes[level]], turned) * below
        below += ties
    positive = _sum(places[yes], turned).astype(np.float64)
    pairs = positive * below
    return np.asarray(np.where(pairs > 0, total / np.where(pairs > 0, pairs, 1), np.nan))


def _sum(places: NDArray[np.intp], turned: Floats) -> Floats:
    """How many of some pairs are drawn in each resample."""
    if len(places) <= _MANY:
        return np.asarray(turned[places].sum(axis=0, dtype=turned.dtype))
    return np.asarray(np.bincount(places, minlength=len(turned)).astype(turned.dtype) @ turned)
