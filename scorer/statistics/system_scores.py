"""Two scores per system, on all questions, in every resample, and without each question in turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorer.statistics.resamples import Floats, Resamples


@dataclass(frozen=True, slots=True)
class SystemScores:
    """AIS and another metric of k systems: (k,), drawn (B, k), and with one question left out (n, k).

    NaN stands where a system has no rated question, in the benchmark or in a resample.
    """

    ais: Floats
    other: Floats
    ais_drawn: Floats
    other_drawn: Floats
    ais_without: Floats
    other_without: Floats
    resamples: Resamples

    @property
    def count(self) -> int:
        """Number of systems."""
        return len(self.ais)

    def of(self, chosen: NDArray[np.bool_]) -> SystemScores:
        """The scores of some of the systems."""
        return SystemScores(
            self.ais[chosen],
            self.other[chosen],
            self.ais_drawn[:, chosen],
            self.other_drawn[:, chosen],
            self.ais_without[:, chosen],
            self.other_without[:, chosen],
            self.resamples,
        )


def system_scores(ais: ArrayLike, other: ArrayLike, rated: ArrayLike, resamples: Resamples) -> SystemScores:
    """Scores from values (n, k), AIS where `rated`, (n,) or (n, k), the other metric everywhere.

    Raises ValueError for shapes that do not fit, fewer than one question, and values that are not finite.
    """
    second = np.asarray(other, dtype=np.float64)
    mask = np.asarray(rated, dtype=bool)
    mask = np.broadcast_to(mask[:, None] if mask.ndim == 1 else mask, second.shape).astype(np.float64)
    first = np.where(mask > 0, np.asarray(ais, dtype=np.float64), 0.0)
    if first.shape != second.shape or second.ndim != 2 or len(second) < 1:
        raise ValueError(f"AIS of shape {first.shape} does not fit the other metric's {second.shape}")
    # One column tells the number of rated questions of all systems where they share their rated subset.
    masks = mask[:, :1] if (mask == mask[:, :1]).all() else mask
    drawn = resamples.totals(np.hstack([first, second, masks]))
    whole = resamples.total(np.hstack([first, second, masks]))
    k = first.shape[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        return SystemScores(
            ais=whole[:k] / whole[2 * k :],
            other=whole[k : 2 * k] / resamples.n,
            ais_drawn=drawn[:, :k] / drawn[:, 2 * k :],
            other_drawn=drawn[:, k : 2 * k] / resamples.n,
            ais_without=(whole[:k] - first) / (whole[2 * k :] - masks),
            other_without=(whole[k : 2 * k] - second) / (resamples.n - 1),
            resamples=resamples,
        )
