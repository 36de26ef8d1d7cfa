"""One shared matrix of bootstrap resamples, so that every system and metric is resampled alike."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

# Questions drawn per block. Part of the recipe: another value gives other resamples for the same seed.
_BLOCK_CELLS = 2_000_000
# Counts multiplied at once: few large products, as each one waits for all threads of the linear algebra library.
_PRODUCT_CELLS = 8_000_000
# Counts beyond this many bytes are drawn anew at each use instead of being kept.
_KEEP_BYTES = 256 * 2**20
# Every integer up to here is exact in float32, so sums of counts are too.
_EXACT_IN_FLOAT32 = 2**24
_EXACT_BITS = 53


class Resamples:
    """How often each of `n` questions is drawn in each of `count` bootstrap resamples; fixed by the seed."""

    def __init__(self, n: int, count: int, seed: int) -> None:
        if n < 0 or count < 2:
            raise ValueError(f"cannot draw {count} resamples of {n} questions")
        self.n = n
        self.count = count
        self.seed = seed
        self._rows = max(1, _BLOCK_CELLS // max(n, 1))
        self._kept: NDArray[np.uint8 | np.uint32] | None = None
        if n * count <= _KEEP_BYTES:
            self._kept = np.concatenate([self._draw_block(start) for start in range(0, count, self._rows)])

    @classmethod
    def draw(cls, n: int, resamples: int, seed: int) -> Resamples:
        """Draw `resamples` resamples of `n` questions with replacement; fixed by the arguments."""
        return cls(n, resamples, seed)

    @property
    def nbytes(self) -> int:
        """Bytes held in memory for the counts."""
        return 0 if self._kept is None else self._kept.nbytes

    def blocks(self) -> Iterator[tuple[int, NDArray[np.uint8 | np.uint32]]]:
        """Yield (first row, counts of shape (rows, n)) in order; bounded in memory whatever n is."""
        rows = self._rows if self._kept is None else max(1, _PRODUCT_CELLS // max(self.n, 1))
        for start in range(0, self.count, rows):
            yield start, self._draw_block(start) if self._kept is None else self._kept[start : start + rows]

    def totals(self, values: ArrayLike) -> Floats:
        """Sum of the drawn values: (n,) to (count,), (n, m) to (count, m).

        Values are first rounded to a fixed point grid on which every sum is exact in binary floating point
        (for |value| <= 1 and 3,610 questions the grid is 2**-41 wide). So a column's totals are the same bits
        whatever columns stand beside it, on whatever machine, and equal totals compare equal. Raises
        ValueError for another number of questions and for values that are not finite.
        """
        columns, shape = self._columns(values)
        grid, narrow = self._on_grid(columns)
        totals = np.empty((self.count, columns.shape[1]))
        parts = [(mask, grid[:, mask].astype(kind)) for mask, kind in ((narrow, "f4"), (~narrow, "f8")) if mask.any()]
        for start, block in self.blocks():
            for mask, part in parts:
                totals[start : start + len(block), mask] = block.astype(part.dtype) @ part
        return totals.reshape((self.count, *shape))

    def means(self, values: ArrayLike) -> Floats:
        """Mean of the drawn values in each resample: (n,) to (count,), (n, m) to (count, m)."""
        if self.n == 0:
            raise ValueError("no questions, so no means")
        return self.totals(values) / self.n

    def mean(self, values: ArrayLike) -> Floats:
        """Mean over the questions in the arithmetic of `means`, so that the two can be compared exactly."""
        if self.n == 0:
            raise ValueError("no questions, so no means")
        return self.total(values) / self.n

    def total(self, values: ArrayLike) -> Floats:
        """Sum over the questions in the arithmetic of `totals`: (n,) to (), (n, m) to (m,)."""
        columns, shape = self._columns(values)
        return np.asarray(self._on_grid(columns)[0].sum(axis=0).reshape(shape))

    def _columns(self, values: ArrayLike) -> tuple[Floats, tuple[int, ...]]:
        array = np.asarray(values, dtype=np.float64)
        if array.ndim not in (1, 2) or len(array) != self.n:
            raise ValueError(f"values of shape {array.shape} do not fit resamples of {self.n} questions")
        if not np.isfinite(array).all():
            raise ValueError("values must be finite numbers")
        return array.reshape(self.n, *(array.shape[1:] or (1,))), array.shape[1:]

    def _on_grid(self, columns: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """The columns rounded to the grid, and which of them are whole numbers small enough for float32."""
        largest = np.abs(columns).max(axis=0, initial=0.0)
        scale = np.exp2(np.ceil(np.log2(np.maximum(largest, 1.0))))
        step = scale * 2.0 ** (math.ceil(math.log2(max(self.n, 2))) - _EXACT_BITS)
        grid = np.rint(columns / step) * step
        whole = (grid == np.rint(grid)).all(axis=0)
        return grid, whole & (largest * self.n <= _EXACT_IN_FLOAT32)

    def _draw_block(self, start: int) -> NDArray[np.uint8 | np.uint32]:
        rows = min(self._rows, self.count - start)
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, self.n, start])))
        if self.n == 0:
            return np.zeros((rows, 0), dtype=np.uint8)
        drawn = rng.integers(0, self.n, size=(rows, self.n))
        drawn += np.arange(rows)[:, None] * self.n
        counts = np.bincount(drawn.ravel(), minlength=rows * self.n).reshape(rows, self.n)
        return counts.astype(np.uint8 if counts.max() <= np.iinfo(np.uint8).max else np.uint32)


class ResampleStore:
    """Keeps the last drawn matrices of a process by (n, resamples, seed), up to `max_bytes`; thread-safe."""

    def __init__(self, max_bytes: int = 512 * 2**20) -> None:
        self._max_bytes = max_bytes
        self._held: OrderedDict[tuple[int, int, int], Resamples] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, n: int, resamples: int, seed: int) -> Resamples:
        """The matrix for these arguments, drawn at its first use and dropped when long unused."""
        key = (n, resamples, seed)
        with self._lock:
            found = self._held.pop(key, None) or Resamples.draw(*key)
            self._held[key] = found
            while len(self._held) > 1 and sum(held.nbytes for held in self._held.values()) > self._max_bytes:
                self._held.popitem(last=False)
        return found
