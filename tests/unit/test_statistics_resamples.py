"""The shared resample matrix: what is drawn, and that its sums are exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scorer.statistics import resamples as module
from scorer.statistics.resamples import Resamples, ResampleStore


def counts(resamples: Resamples) -> np.ndarray:
    return np.concatenate([block for _, block in resamples.blocks()])


def test_each_resample_draws_n_questions():
    drawn = counts(Resamples.draw(50, 400, 3))
    assert drawn.shape == (400, 50)
    assert drawn.dtype == np.uint8
    assert (drawn.sum(axis=1) == 50).all()


def test_counts_follow_the_multinomial_law():
    drawn = counts(Resamples.draw(20, 20_000, 3)).astype(float)
    assert drawn.mean() == 1
    # Each count is Binomial(20, 1/20): variance 0.95; two counts covary by -1/20.
    covariance = np.cov(drawn.T)
    assert np.diag(covariance) == pytest.approx(np.full(20, 0.95), abs=0.06)
    assert covariance[np.triu_indices(20, 1)].mean() == pytest.approx(-0.05, abs=0.005)


def test_the_draw_is_fixed_by_its_arguments():
    first = counts(Resamples.draw(30, 100, 5))
    assert (first == counts(Resamples.draw(30, 100, 5))).all()
    assert (first != counts(Resamples.draw(30, 100, 6))).any()
    assert (first == counts(Resamples.draw(30, 300, 5))[:100]).all()


def test_a_matrix_too_large_to_keep_is_drawn_anew_alike(monkeypatch):
    values = np.random.default_rng(0).random((40, 3))
    kept = Resamples.draw(40, 200, 1)
    monkeypatch.setattr(module, "_KEEP_BYTES", 100)
    redrawn = Resamples.draw(40, 200, 1)
    assert redrawn.nbytes == 0 < kept.nbytes
    assert (redrawn.means(values) == kept.means(values)).all()


def test_many_blocks_agree_with_a_direct_product(monkeypatch):
    monkeypatch.setattr(module, "_BLOCK_CELLS", 700)
    monkeypatch.setattr(module, "_PRODUCT_CELLS", 1_100)
    resamples = Resamples.draw(100, 55, 2)
    values = np.random.default_rng(1).random((100, 4))
    assert resamples.means(values) == pytest.approx(counts(resamples) @ values / 100, rel=1e-12)
    assert resamples.means(values[:, 0]).shape == (55,)


@settings(max_examples=60, deadline=None)
@given(values=arrays(np.float64, st.tuples(st.integers(2, 40), st.integers(1, 6)), elements=st.floats(-1e6, 1e6)))
def test_a_column_does_not_depend_on_its_neighbours(values):
    resamples = Resamples.draw(len(values), 64, 9)
    together = resamples.totals(values)
    for column in range(values.shape[1]):
        assert (together[:, column] == resamples.totals(values[:, column])).all()
    assert (resamples.totals(values[:, ::-1]) == together[:, ::-1]).all()
    tolerance = 1e-9 * len(values) * max(1.0, np.abs(values).max())
    assert np.abs(together - counts(resamples) @ values).max() <= tolerance


def test_equal_sums_compare_equal():
    """1/3 + 2/3 drawn in other orders and other columns: a tie must be seen as a tie."""
    values = np.array([1 / 3, 2 / 3, 0.1, 0.7, 0.2])
    resamples = Resamples.draw(5, 2_000, 0)
    order = [4, 2, 0, 3, 1]
    permuted = np.concatenate([block[:, order] for _, block in resamples.blocks()]).astype(float)
    grid = resamples._on_grid(values[:, None])[0][:, 0]
    assert (permuted @ grid[order] == resamples.totals(values)).all()


@pytest.mark.parametrize("values", [[0.0, np.nan], [0.0, np.inf], [1.0], [[1.0]], [[[1.0], [2.0]]]])
def test_values_that_do_not_fit_are_refused(values):
    with pytest.raises(ValueError):
        Resamples.draw(2, 10, 0).means(values)


@pytest.mark.parametrize(("n", "count"), [(-1, 10), (5, 1), (5, 0)])
def test_impossible_draws_are_refused(n, count):
    with pytest.raises(ValueError):
        Resamples.draw(n, count, 0)


def test_no_questions_have_no_means():
    empty = Resamples.draw(0, 10, 0)
    assert empty.totals(np.empty((0, 3))).shape == (10, 3)
    with pytest.raises(ValueError):
        empty.means(np.empty(0))


def test_the_store_reuses_and_forgets():
    store = ResampleStore(max_bytes=2_500)
    first = store.get(10, 100, 0)
    assert store.get(10, 100, 0) is first
    second = store.get(10, 100, 1)
    assert store.get(10, 100, 0) is first
    store.get(10, 100, 2)
    assert store.get(10, 100, 0) is first
    assert store.get(10, 100, 1) is not second
