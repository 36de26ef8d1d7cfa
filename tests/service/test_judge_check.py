"""A judge against the released scores: agreement, correlation and flips, counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import NotFound
from core.records import Judgment, Pair
from scorer.judge_check import check, compare
from server.bootstrap import Services
from server.released import import_released
from tests.released_file import ROWS, write
from tests.small_benchmark import add_benchmark


class Fixed:
    """A judge that says one thing of every pair."""

    key = title = help = score_name = "fixed"
    signature = "judge:fixed@1"

    def judge(self, pairs: list[Pair]) -> list[Judgment]:
        return [Judgment(0.9, "1") for _ in pairs]


def test_series_are_compared_pair_by_pair() -> None:
    pairs = [Pair(f"p{n}", f"h{n}") for n in range(4)]
    found = compare(pairs, [0.9, 0.8, 0.1, 0.2], [0.8, 0.3, 0.2, 0.9])
    assert (found.pairs, found.agreement) == (4, 0.5)
    assert [(flip.released, flip.judge) for flip in found.flips] == [(0.2, 0.9), (0.8, 0.3)]
    assert found.largest_difference == pytest.approx(0.7)
    assert found.spearman == pytest.approx(0.4)


def test_a_constant_series_has_no_correlation() -> None:
    found = compare([Pair("p", "h")] * 3, [0.1, 0.5, 0.9], [0.9, 0.9, 0.9])
    assert (found.pearson, found.spearman) == (None, None)
    assert found.agreement == pytest.approx(2 / 3)


def test_released_pairs_are_judged_once_and_compared(services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    done = import_released(services, write(tmp_path / "ratings.csv", ROWS), "small")
    found = check(services.database, services.benchmarks, "small", Fixed())
    assert found.pairs == done.judgments == 3
    assert found.agreement == 1 - len(found.flips) / 3
    assert all(flip.released < 0.5 <= flip.judge for flip in found.flips)
    assert check(services.database, services.benchmarks, "small", Fixed(), limit=2).pairs == 2


def test_without_a_release_it_says_how_to_get_one(services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    with pytest.raises(NotFound) as raised:
        check(services.database, services.benchmarks, "small", Fixed())
    assert "aqa import released" in raised.value.hint
