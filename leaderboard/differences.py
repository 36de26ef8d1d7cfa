"""What changed between two evaluations of one entry, metric by metric: paired differences with intervals, kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from core.records import Interval
from leaderboard.cache import Kept
from leaderboard.pairing import compared
from leaderboard.ranking import read_many
from leaderboard.recipes import resampling
from scorer import metrics
from scorer.scoring import Values
from scorer.statistics.comparisons import paired_differences
from scorer.statistics.intervals import NONE
from scorer.statistics.resamples import ResampleStore

Pair = tuple[int, int]
"""The evaluations before and after."""

_NOT_STORED = "The values of one side are not stored question by question."
_OTHER_QUESTIONS = "The two sides are not over the same questions."
_ONE = "One question has no interval."


@dataclass(frozen=True, slots=True)
class Paired:
    """The later less the earlier on the `n` questions that have both values, of which `changed` differ.

    `difference` is None where there is nothing to pair; `reason` says why a part is missing.
    """

    changed: int | None
    n: int | None
    difference: float | None = None
    interval: Interval = NONE
    reason: str | None = None


class Differences:
    """Paired differences of a process by evaluations, metric and resampling; evaluations never change."""

    def __init__(self, store: ResampleStore, most: int = 20_000) -> None:
        self._store = store
        self._kept: Kept[Paired] = Kept(most)

    def of(self, session: Session, pairs: Mapping[Pair, str], metric: str) -> dict[Pair, Paired]:
        """The differences in one metric; each pair comes with the signature whose resampling it takes."""
        found: dict[Pair, Paired] = {}
        missing: defaultdict[tuple[int, int], list[Pair]] = defaultdict(list)
        for pair, signature in pairs.items():
            count, seed = resampling(signature)
            held = self._kept.held((pair, metric, count, seed))
            if held is None:
                missing[count, seed].append(pair)
            else:
                found[pair] = held
        for (count, seed), wanted in missing.items():
            for pair, each in self._made(session, wanted, metric, count, seed).items():
                self._kept.keep((pair, metric, count, seed), each)
                found[pair] = each
        return found

    def _made(
        self, session: Session, pairs: Sequence[Pair], metric: str, count: int, seed: int
    ) -> dict[Pair, Paired]:  # fmt: skip
        values = read_many(session, sorted({each for pair in pairs for each in pair}), metric)
        found: dict[Pair, Paired] = {}
        # Pairs known on the same questions share their resamples, so these are gone through once.
        alike: defaultdict[bytes, list[Pair]] = defaultdict(list)
        for before, after in pairs:
            if before not in values or after not in values:
                found[before, after] = Paired(None, None, reason=_NOT_STORED)
            elif len(values[before]) != len(values[after]):
                found[before, after] = Paired(None, None, reason=_OTHER_QUESTIONS)
            else:
                alike[_known(values, (before, after)).tobytes()].append((before, after))
        for own in alike.values():
            known = _known(values, own[0])
            changed = [int((values[b][known] != values[a][known]).sum()) for b, a in own]
            ends = self._ends(session, own, known, values, metric, count, seed)
            n = int(known.sum())
            for pair, differing, (difference, interval) in zip(own, changed, ends, strict=True):
                reason = None if interval.low is not None else _ONE if n else _OTHER_QUESTIONS
                found[pair] = Paired(differing, n, difference, interval, reason)
        return found

    def _ends(
        self, session: Session, pairs: Sequence[Pair], known: NDArray[np.bool_], values: Mapping[int, Values],
        metric: str, count: int, seed: int,
    ) -> list[tuple[float | None, Interval]]:  # fmt: skip
        if not known.any():
            return [(None, NONE)] * len(pairs)
        if metrics.harmonic_of(metric) is None:
            after, before = (np.column_stack([values[pair[side]][known] for pair in pairs]) for side in (1, 0))
            return list(paired_differences(after, before, self._store.get(len(after), count, seed)))
        recipe = f"bs:{count}|seed:{seed}"
        both = [compared(session, after, before, metric, recipe, self._store) for before, after in pairs]
        return [(each.difference, each.interval) for each in both]


def _known(values: Mapping[int, Values], pair: Pair) -> NDArray[np.bool_]:
    return np.isfinite(values[pair[0]]) & np.isfinite(values[pair[1]])
