"""All statistics of 23 systems, 3,610 questions, 9,999 resamples, against a loop of `scipy.stats.bootstrap`.

The loop makes one call per metric and system and one per metric and pair. It would run for a quarter of an hour,
so a stated sample of its calls is timed and scaled up. It is given its fastest form: calls in batches, and a pair
as one series of differences. Its intervals must agree with ours within Monte Carlo error.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

SYSTEMS, QUESTIONS, RATED, RATERS, RESAMPLES, SEED = 23, 3_610, 1_000, 5, 9_999, 20221215
SINGLES_TIMED, PAIRS_TIMED, RUNS = 2, 3, 3
# A BCa end of 9,999 resamples has a Monte Carlo error of about 0.04 standard errors of the mean, two such ends
# about 0.055 apart: 0.25 is four and a half times that.
TOLERANCE = 0.25

Data = dict[str, Any]


def made_data() -> Data:
    """Metric values of systems of growing quality over questions of differing difficulty, and votes of raters."""
    rng = np.random.default_rng(0)
    quality = np.linspace(0.25, 0.7, SYSTEMS)
    skill = 0.5 * rng.random((QUESTIONS, 1)) + 0.5 * rng.random((QUESTIONS, SYSTEMS))
    em = (skill < quality).astype(float)
    partial = rng.choice([0.0, 0.4, 0.5, 2 / 3], (QUESTIONS, SYSTEMS))
    truth = np.clip(0.15 + 0.7 * em + 0.3 * rng.standard_normal(em.shape), 0, 1)
    p = np.clip(truth + 0.2 * rng.standard_normal(em.shape), 0, 1)
    votes = rng.binomial(RATERS, truth[:RATED])
    metrics = {
        "em": em,
        "f1": np.maximum(em, partial),
        "em_compat": np.maximum(em, rng.random(em.shape) < 0.01),
        "f1_compat": np.maximum(em, partial * (rng.random(em.shape) < 0.9)),
        "em_lenient": np.maximum(em, rng.random(em.shape) < 0.02),
        "autoais": (p >= 0.5).astype(float),
        "ais": (2 * votes > RATERS).astype(float),
    }
    return {"metrics": metrics, "p": p, "votes": votes, "names": [f"A{at % 5}" for at in range(SYSTEMS)]}


def all_statistics(data: Data) -> dict[str, Any]:
    """Every statistic that the product shows for these systems, the drawing of the resamples included."""
    from scorer.statistics.comparisons import all_pairs
    from scorer.statistics.correlations import correlate
    from scorer.statistics.instances import instances, pooled
    from scorer.statistics.intervals import estimates
    from scorer.statistics.ppi import ppi
    from scorer.statistics.ranks import rank_intervals
    from scorer.statistics.raters import estimate_with_raters
    from scorer.statistics.resamples import ResampleStore

    store, metrics = ResampleStore(), data["metrics"]
    whole, part = store.get(QUESTIONS, RESAMPLES, SEED), store.get(RATED, RESAMPLES, SEED)
    shared = [key for key in metrics if key != "ais"]
    together = estimates(np.hstack([metrics[key] for key in shared]), whole)
    intervals = {key: together[at * SYSTEMS : (at + 1) * SYSTEMS] for at, key in enumerate(shared)}
    intervals["ais"] = estimates(metrics["ais"], part)
    rated = np.arange(QUESTIONS) < RATED
    ais = np.vstack([metrics["ais"], np.zeros((QUESTIONS - RATED, SYSTEMS))])
    flagged = [at % 8 == 7 for at in range(SYSTEMS)]
    decisions, p = metrics["autoais"], data["p"]
    single = [(decisions[:RATED, at], p[:RATED, at], metrics["ais"][:, at]) for at in range(SYSTEMS)]
    return {
        "intervals": intervals,
        "pairs": {key: all_pairs(values, part if key == "ais" else whole) for key, values in metrics.items()},
        "ranks": {key: rank_intervals(values) for key, values in metrics.items()},
        "em_correlations": correlate(ais, metrics["em"], rated, data["names"], whole),
        "autoais_correlations": correlate(ais, decisions, rated, data["names"], whole, flagged),
        "instances": [*instances(single, part), pooled(single, [np.arange(RATED)] * SYSTEMS, part)],
        "raters": [estimate_with_raters(data["votes"][:, at], np.full(RATED, RATERS), part) for at in range(SYSTEMS)],
        "ppi": [
            ppi(metrics["ais"][:, at], decisions[:RATED, at], decisions[RATED:, at], "complete")
            for at in range(SYSTEMS)
        ],
    }


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of wall time, and what the call gave."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def scipy_loop(data: Data, ours: dict[str, Any], say: Callable[[str], None]) -> float:
    """Seconds the whole loop would take, from a sample of its calls; ends the script if the results disagree."""
    from scipy.stats import bootstrap

    rng, total, calls = np.random.default_rng(1), 0.0, 0
    for key, values in data["metrics"].items():
        every_pair = list(combinations(range(SYSTEMS), 2))
        systems = rng.choice(SYSTEMS, SINGLES_TIMED, replace=False)
        pairs = rng.choice(len(every_pair), PAIRS_TIMED, replace=False)
        series = [(values[:, at], ours["intervals"][key][at].interval) for at in systems]
        for at in pairs:
            first, second = every_pair[at]
            series.append((values[:, first] - values[:, second], ours["pairs"][key][at].interval))
        seconds = []
        for sample, interval in series:
            spent, theirs = timed(
                lambda sample=sample: bootstrap((sample,), np.mean, n_resamples=RESAMPLES, batch=500, rng=rng)
            )
            seconds.append(spent)
            apart = np.abs(np.array(theirs.confidence_interval) - (interval.low, interval.high)).max() / interval.se
            if apart > TOLERANCE or abs(theirs.standard_error / interval.se - 1) > 0.05:
                sys.exit(f"{key}: ends {apart:.3f} standard errors from SciPy's, more than Monte Carlo error")
        total += min(seconds[:SINGLES_TIMED]) * SYSTEMS + min(seconds[SINGLES_TIMED:]) * len(every_pair)
        calls += SYSTEMS + len(every_pair)
    timed_calls = (SINGLES_TIMED + PAIRS_TIMED) * len(data["metrics"])
    say(f"SciPy loop: {timed_calls} of {calls} calls timed, {total:.0f} s for all by extrapolation")
    return total


def main() -> None:
    """Time both and print the figures; the last line is one JSON object with `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    as_json = parser.parse_args().json
    data = made_data()
    first, found = timed(lambda: all_statistics(data))
    before = time.process_time()
    runs = [timed(lambda: all_statistics(data))[0] for _ in range(RUNS)]
    processor = (time.process_time() - before) / RUNS
    # The fastest run, and the fastest call of each kind: what else the machine does only adds.
    ours = min(runs)
    walls = ", ".join(f"{run:.2f}" for run in runs)
    print(f"ours: {first:.2f} s with imports, then {walls} s; {processor:.2f} s of processor time a run")
    theirs = scipy_loop(data, found, print)
    print(f"{theirs / ours:.0f} times as fast, with all other statistics on our side of the scale")
    if as_json:
        figures = {"ratio": round(theirs / ours, 1), "ours": round(ours, 3), "theirs": round(theirs, 1), "unit": "s"}
        print(json.dumps({"vs_scipy_loop": figures}))


if __name__ == "__main__":
    main()
