"""Ranks of many systems at once are those of SciPy's test pair by pair, and quick enough for a large board."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_rel
from statsmodels.stats.multitest import multipletests

from scorer.statistics.paired_tests import all_pairs_of, paired_t_of_many
from scorer.statistics.ranks import rank_intervals

RNG = np.random.default_rng(3)


def tables() -> list[np.ndarray]:
    binary = (RNG.random((200, 9)) < np.linspace(0.3, 0.8, 9)).astype(float)
    shares = RNG.integers(0, 7, (200, 9)) / 6
    nearly = RNG.random((200, 9))
    nearly[:, 1] = nearly[:, 0] + 1e-4 * RNG.random(200)
    return [binary, shares, nearly]


@pytest.mark.parametrize("values", tables(), ids=["binary", "shares", "nearly equal"])
def test_every_pair_is_scipys(values: np.ndarray) -> None:
    first, second = all_pairs_of(values.shape[1])
    found = paired_t_of_many(values, first, second)
    expected = [ttest_rel(values[:, i], values[:, j]) for i, j in zip(first, second, strict=True)]
    assert found.t == pytest.approx([each.statistic for each in expected], rel=1e-6)
    assert found.p == pytest.approx([each.pvalue for each in expected], rel=1e-6, abs=1e-300)


def test_pairs_that_differ_nowhere_or_alike_everywhere_are_exact() -> None:
    one = RNG.random(50)
    for values in (np.column_stack([one, one, one - 0.25]), np.array([[1.0, 1.0, 0.0]] * 50)):
        found = paired_t_of_many(values, *all_pairs_of(3))
        assert found.constant.tolist() == [True, True, True]
        assert found.p.tolist() == [1.0, 2.0**-49, 2.0**-49]


def test_rank_intervals_are_those_of_a_naive_loop() -> None:
    values = tables()[0]
    size = values.shape[1]
    pairs = list(zip(*all_pairs_of(size), strict=True))
    corrected = multipletests([ttest_rel(values[:, i], values[:, j]).pvalue for i, j in pairs], method="holm")[1]
    better = np.zeros((size, size), dtype=bool)
    for (i, j), p in zip(pairs, corrected, strict=True):
        if p <= 0.05:
            winner, loser = (i, j) if values[:, i].mean() > values[:, j].mean() else (j, i)
            better[winner, loser] = True
    expected = [(1 + int(better[:, k].sum()), size - int(better[k].sum())) for k in range(size)]
    assert [(rank.best, rank.worst) for rank in rank_intervals(values)] == expected
    assert len(set(expected)) > 2
