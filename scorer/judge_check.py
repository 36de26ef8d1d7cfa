"""How a judge compares with the T5-11B scores that the paper released, on the same pairs."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import select

from core.benchmark import Benchmarks
from core.database import Database
from core.errors import NotFound
from core.ports import Judge
from core.records import Pair
from core.tables import Submission
from core.text import pair_key
from scorer.judges import released
from scorer.judges.verdict import THRESHOLD
from scorer.judgments import JudgmentCache, lookup
from scorer.scoring import pairs_of
from scorer.stored import read_predictions


@dataclass(frozen=True, slots=True)
class Flip:
    """A pair on which the two judges decide differently."""

    question: str
    answer: str
    passage_id: str
    released: float
    judge: float


@dataclass(frozen=True)
class Check:
    """Agreement of decisions at p ≥ 0.5, correlation of p, and the flips, the widest apart first.

    `pearson` and `spearman` are None where a series is constant or shorter than three.
    """

    pairs: int
    agreement: float
    pearson: float | None
    spearman: float | None
    largest_difference: float
    flips: tuple[Flip, ...]


def check(
    database: Database,
    benchmarks: Benchmarks,
    benchmark_id: str,
    judge: Judge,
    limit: int = 0,
    seed: int = 0,
    chunk: int = 256,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Check:
    """Judge the benchmark's released pairs (a random `limit` of them; 0 means all) and compare.

    Raises `NotFound` where the benchmark holds no released scores.
    """
    pairs = _released_pairs(database, benchmarks, benchmark_id)
    theirs = lookup(database, released.SIGNATURE, list(pairs))
    keys = sorted(key for key in theirs if key in pairs)
    if not keys:
        raise NotFound(
            f"Benchmark {benchmark_id!r} holds no released scores.", "Bring them in with: aqa import released PATH"
        )
    if limit and limit < len(keys):
        keys = sorted(random.Random(seed).sample(keys, limit))
    chosen = [pairs[key] for key in keys]
    ours = JudgmentCache(database, judge, chunk).judge_all(chosen, progress)
    return compare(chosen, [theirs[key].p for key in keys], [judgment.p for judgment in ours])


def compare(pairs: Sequence[Pair], theirs: Sequence[float], ours: Sequence[float]) -> Check:
    """The comparison of two series of p (n,) on the same pairs; n at least 1."""
    left, right = np.asarray(theirs), np.asarray(ours)
    apart = np.abs(left - right)
    differ = (left >= THRESHOLD) != (right >= THRESHOLD)
    flips = tuple(
        Flip(pairs[at].question or "", pairs[at].answer or "", _id(pairs[at]), float(left[at]), float(right[at]))
        for at in np.argsort(-apart, kind="stable")
        if differ[at]
    )
    pearson, spearman = _correlations(left, right)
    return Check(len(pairs), float(1 - differ.mean()), pearson, spearman, float(apart.max()), flips)


def _correlations(left: np.ndarray, right: np.ndarray) -> tuple[float | None, float | None]:
    from scipy.stats import pearsonr, spearmanr

    if len(left) < 3 or np.ptp(left) == 0 or np.ptp(right) == 0:
        return None, None
    return float(pearsonr(left, right).statistic), float(spearmanr(left, right).statistic)


def _released_pairs(database: Database, benchmarks: Benchmarks, benchmark_id: str) -> dict[bytes, Pair]:
    benchmark = benchmarks.get(benchmark_id)
    corpus = benchmarks.corpus(benchmark)
    found: dict[bytes, Pair] = {}
    with database.reading() as session:
        for submission_id in session.scalars(select(Submission.id).where(Submission.benchmark_id == benchmark_id)):
            pairs, _ = pairs_of(benchmark, corpus, read_predictions(session, submission_id))
            found |= {pair_key(pair.premise, pair.hypothesis): pair for pair in pairs.values()}
    return found


def _id(pair: Pair) -> str:
    return pair.passage.id if pair.passage is not None else ""
