"""Comparisons of systems on the same questions: difference, interval, paired t, McNemar, Holm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.records import Interval
from scorer.statistics.bca import acceleration, ends
from scorer.statistics.intervals import NONE, wilson
from scorer.statistics.paired_tests import Indices, all_pairs_of, differences, holm, mcnemar, paired_t
from scorer.statistics.resamples import Floats, Resamples

_PAIRS_AT_ONCE = 256
SAME_EVERYWHERE = "the two score alike on every question, so t is undefined"
SAME_DIFFERENCE = "every question has the same difference, so t is undefined; p is the exact sign-flip test's"


@dataclass(frozen=True, slots=True)
class McNemar:
    """Questions that only the first, and only the second, has right; exact p, and Holm's over the family."""

    first_only: int
    second_only: int
    p: float
    p_holm: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The first system less the second, by their columns; `reason` says why a part is None.

    `t` and `p` are the paired t test's; `p_holm` is None outside the family of ranked systems; `mcnemar` is None
    unless both systems have only 0 and 1.
    """

    first: int
    second: int
    n: int
    difference: float | None
    interval: Interval
    t: float | None = None
    p: float | None = None
    p_holm: float | None = None
    mcnemar: McNemar | None = None
    reason: str | None = None


def compare(first: ArrayLike, second: ArrayLike, resamples: Resamples, confidence: float = 0.95) -> Comparison:
    """Compare two systems by their values (n,) on the same questions; the pair is its own family."""
    return all_pairs(np.column_stack([first, second]), resamples, confidence)[0]


def all_pairs(
    values: ArrayLike, resamples: Resamples, confidence: float = 0.95, ranked: Sequence[bool] | None = None
) -> tuple[Comparison, ...]:
    """Compare every pair of columns of (n, systems), metric values within [-1, 1], question by question.

    Holm's correction runs over the pairs of systems that are `ranked` (default: all). A column with a value
    that is not finite has comparisons without numbers, and is outside the family. Raises ValueError where the
    number of questions is not that of the resamples.
    """
    columns = np.asarray(values, dtype=np.float64)
    if columns.ndim != 2 or len(columns) != resamples.n:
        raise ValueError(f"values of shape {columns.shape} do not fit resamples of {resamples.n} questions")
    first, second = all_pairs_of(columns.shape[1])
    finite = np.asarray(np.isfinite(columns).all(axis=0))
    reason = "a value is not a finite number" if resamples.n else "no questions in common"
    usable = finite[first] & finite[second] & (resamples.n > 0)
    family = np.ones(columns.shape[1], dtype=bool) if ranked is None else np.asarray(ranked, dtype=bool)
    # Pairs of the columns that are left stand in the same order as the usable ones among all pairs.
    numbers = iter(_compared(columns[:, finite], resamples, confidence, family[finite]) if usable.any() else ())
    return tuple(
        replace(next(numbers), first=int(i), second=int(j))
        if able
        else Comparison(int(i), int(j), resamples.n, None, NONE, reason=reason)
        for i, j, able in zip(first, second, usable, strict=True)
    )


def paired_differences(
    first: ArrayLike, second: ArrayLike, resamples: Resamples, confidence: float = 0.95
) -> list[tuple[float, Interval]]:
    """The columns of `first` (n, m) less those of `second`, each with its paired interval, as by `compare`.

    Raises ValueError for shapes that do not fit, no question, and values that are not finite.
    """
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 2 or one.shape != two.shape or not len(one) == resamples.n > 0:
        raise ValueError(f"values of shapes {one.shape} and {two.shape} do not fit resamples of {resamples.n}")
    if not (np.isfinite(one).all() and np.isfinite(two).all()):
        raise ValueError("values must be finite numbers")
    columns, m = np.hstack([one, two]), one.shape[1]
    binary = np.asarray(np.isin(columns, (0, 1)).all(axis=0))
    gaps, intervals = _intervals(columns, np.arange(m), np.arange(m) + m, resamples, confidence, binary)
    return list(zip(gaps, intervals, strict=True))


def _compared(columns: Floats, resamples: Resamples, confidence: float, family: NDArray[np.bool_]) -> list[Comparison]:
    first, second = all_pairs_of(columns.shape[1])
    tests = paired_t(columns, first, second)
    inside = family[first] & family[second]
    corrected = _over_family(tests.p, inside)
    binary = np.asarray(np.isin(columns, (0, 1)).all(axis=0))
    tables = _mcnemars(columns, first, second, binary, inside)
    gaps, intervals = _intervals(columns, first, second, resamples, confidence, binary)
    return [
        Comparison(
            int(first[at]),
            int(second[at]),
            resamples.n,
            gaps[at],
            intervals[at],
            None if tests.constant[at] else float(tests.t[at]),
            float(tests.p[at]),
            corrected[at],
            tables[at],
            (SAME_DIFFERENCE if gaps[at] else SAME_EVERYWHERE) if tests.constant[at] else None,
        )
        for at in range(len(first))
    ]


def _over_family(p: Floats, inside: NDArray[np.bool_]) -> list[float | None]:
    corrected = iter(holm(p[inside]).tolist())
    return [next(corrected) if each else None for each in inside]


def _mcnemars(
    columns: Floats, first: Indices, second: Indices, binary: NDArray[np.bool_], inside: NDArray[np.bool_]
) -> list[McNemar | None]:
    testable = binary[first] & binary[second]
    found = mcnemar(np.where(binary, columns, 0.0), first[testable], second[testable])
    corrected = _over_family(found.p, inside[testable])
    tables = iter(
        McNemar(*table)
        for table in zip(
            found.first_only.tolist(), found.second_only.tolist(), found.p.tolist(), corrected, strict=True
        )
    )
    return [next(tables) if each else None for each in testable]


def _intervals(
    columns: Floats,
    first: Indices,
    second: Indices,
    resamples: Resamples,
    confidence: float,
    binary: NDArray[np.bool_],
) -> tuple[list[float], list[Interval]]:
    """Differences of means and their paired bootstrap intervals: both systems see the same resamples."""
    totals, total = resamples.totals(columns), resamples.total(columns)
    gaps: list[float] = []
    found: list[Interval] = []
    for start in range(0, len(first), _PAIRS_AT_ONCE):
        i, j = first[start : start + _PAIRS_AT_ONCE], second[start : start + _PAIRS_AT_ONCE]
        each = differences(columns, i, j)
        constant = each.min(axis=0) == each.max(axis=0)
        # Totals lie on one grid, so their differences are exact and ties with the estimate are seen.
        centre = (total[i] - total[j]) / resamples.n
        drawn = (totals[:, i] - totals[:, j]) / resamples.n
        parts = ends(drawn, centre, acceleration(each - each.mean(axis=0)), confidence)
        rows = zip(*(part.tolist() for part in parts), strict=True)
        for at, (low, high, se, corrected) in enumerate(rows):
            gaps.append(float(each[0, at]) if constant[at] else float(centre[at]))
            if constant[at]:
                found.append(_constant(gaps[-1], resamples.n, bool(binary[i[at]] and binary[j[at]]), confidence))
            else:
                found.append(Interval(low, high, se, "bca" if corrected else "percentile"))
    return gaps, found


def _constant(difference: float, n: int, binary: bool, confidence: float) -> Interval:
    """Interval of a difference that is the same on every question.

    Between systems of 0 and 1 it is the score interval for paired proportions (Tango 1998), which in these three
    cases follows from Wilson's: 2L - 1 to 1 where only the first is ever right, L - 1 to 1 - L where no question
    tells them apart, with L Wilson's lower end for n of n.
    """
    se = 0.0 if n > 1 else None
    if binary:
        low = wilson(n, n, confidence)[0]
        if difference == 0:
            return Interval(low - 1, 1 - low, se, "wilson")
        return Interval(2 * low - 1, 1.0, se, "wilson") if difference > 0 else Interval(-1.0, 1 - 2 * low, se, "wilson")
    return Interval(difference, difference, se, "percentile") if n > 1 else NONE
