"""Intake and warm scoring: attribution lookup, corpus build, reading a file, scoring with a warm judgment cache.

`attribution_lookup`: opening a corpus of 1,000,000 passages and resolving 3,610 ids, against the way of AQA's released
    script: read every line of every shard, parse its JSON, test its id in a set. The files are in the page cache. The
    script spreads its shards over processes: theirs is the faster of one process and one per processor.
`passage_lookup`: the same with the texts fetched as well, which the scan does on its way.
`lookup_growth`: our time to open and resolve at 1,000,000 passages over that at 100,000.
`build_memory`: the peak of a process that builds the corpus of 1,000,000, against 1 GiB.
`read_validate`: our whole validation of 3,610 CSV rows (every check, joining, resolving, report) against the released
    script's reading: `csv.DictReader` into a dictionary by question, nothing checked.
`score_warm`: 3,610 rows scored with every judgment cached and every interval, against the seven intervals alone as a
    loop of `scipy.stats.bootstrap` (BCa, batches of 500).
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.made_corpus import identifier, scan, write_corpus

QUESTIONS, LARGE, SMALL, LOOKUPS, RUNS = 3_610, 1_000_000, 100_000, 25, 5
RESAMPLES = 9_999


def resolve(path: Path, wanted: Sequence[str]) -> dict[str, str | None]:
    """Our way to the ids: open and resolve."""
    from core.corpus import Corpus

    corpus = Corpus(path)
    found = corpus.resolve(wanted)
    corpus.close()
    return found


def look_up(path: Path, wanted: Sequence[str]) -> dict[str, str]:
    """Our way to the texts: open, resolve, fetch."""
    from core.corpus import Corpus

    corpus = Corpus(path)
    passages = corpus.passages(found for found in corpus.resolve(wanted).values() if found is not None)
    corpus.close()
    return {name: f"« {p.title} » « {p.headings} » {p.text}" for name, p in passages.items()}


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of wall time, and what the call gave."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def best(call: Callable[[], Any], runs: int = RUNS) -> tuple[float, Any]:
    """The fastest of some runs: what else the machine does only adds."""
    found = [timed(call) for _ in range(runs)]
    return min(seconds for seconds, _ in found), found[-1][1]


def build_apart(folder: Path, shards: Sequence[Path]) -> tuple[Path, float, float]:
    """Build a corpus in a process of its own: the file, seconds, peak memory in MiB."""
    command = [sys.executable, "-m", "benchmarks.intake", "--build", str(folder), *map(str, shards)]
    seconds, ended = timed(lambda: subprocess.run(command, capture_output=True, text=True, check=True))
    told = json.loads(ended.stdout)
    return folder / f"{told['digest']}.sqlite", seconds, told["peak_mib"]


def build_here(folder: Path, shards: Sequence[Path]) -> None:
    """What that process does."""
    from core.corpus import build

    digest, _ = build(shards, folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"digest": digest, "peak_mib": peak}))


def lookups(folder: Path, figures: dict[str, Any]) -> tuple[list[Path], Path]:
    """Measure lookup, its growth and the build; returns the small corpus's shards and file."""
    shards, files, wanted = {}, {}, {}
    for size in (SMALL, LARGE):
        shards[size] = write_corpus(folder / f"shards-{size}", size)
        files[size], seconds, peak = build_apart(folder / "corpora", shards[size])
        mib = files[size].stat().st_size / 2**20
        print(f"corpus of {size:,}: built in {seconds:.1f} s, peak memory {peak:.0f} MiB, file {mib:,.0f} MiB")
        wanted[size] = [identifier(at) for at in random.Random(1).sample(range(size), QUESTIONS)]
    times = dict.fromkeys(shards, float("inf"))
    for _ in range(LOOKUPS):  # in turn, so that what else the machine does falls on both
        for size, file in files.items():
            seconds, ids = timed(partial(resolve, file, wanted[size]))
            times[size] = min(times[size], seconds)
            if ids != {name: name for name in wanted[size]}:
                sys.exit("an id was not resolved")
    with_texts, found = best(partial(look_up, files[LARGE], wanted[LARGE]), runs=LOOKUPS)
    for size, seconds in times.items():
        print(f"opened and resolved {QUESTIONS:,} ids among {size:,}: {1000 * seconds:.1f} ms")
    print(f"the same with their texts: {1000 * with_texts:.1f} ms")
    theirs = scan_times(shards[LARGE], wanted[LARGE], found)
    figures["attribution_lookup"] = figure(theirs, times[LARGE], "s")
    figures["passage_lookup"] = figure(theirs, with_texts, "s")
    figures["lookup_growth"] = growth(times[LARGE], times[SMALL])
    figures["build_memory"] = figure(1024.0, peak, "MiB")
    return shards[SMALL], files[SMALL]


def scan_times(shards: Sequence[Path], wanted: Sequence[str], found: dict[str, str]) -> float:
    """Seconds of the released script's way, in one process or one per processor, whichever is faster."""
    theirs = []
    for processes in sorted({1, os.cpu_count() or 1}):
        seconds, scanned = best(partial(scan, shards, frozenset(wanted), processes), runs=2)
        theirs.append(seconds)
        print(f"released script's way in {processes} process(es): {seconds:.2f} s")
        if scanned != found:
            sys.exit("the two ways found different passages")
    return min(theirs)


def figure(theirs: float, ours: float, unit: str) -> dict[str, Any]:
    """One figure: the ratio is theirs over ours."""
    return {"ratio": round(theirs / ours, 3), "ours": round(ours, 5), "theirs": round(theirs, 5), "unit": unit}


def growth(large: float, small: float) -> dict[str, Any]:
    """One figure whose both sides are ours: `ours` on the large corpus, `theirs` on the small one, large over small."""
    return {"ratio": round(large / small, 3), "ours": round(large, 5), "theirs": round(small, 5), "unit": "s"}


def write_benchmark(folder: Path, corpus: Path) -> tuple[Path, Path, Path]:
    """3,610 questions, predictions of mixed quality as CSV, and a pre-aggregated rating of each triple."""
    from core.corpus import Corpus

    folder.mkdir()
    rng = random.Random(3)
    cited = [identifier(at) for at in rng.sample(range(SMALL), QUESTIONS)]
    texts = Corpus(corpus).passages(cited)
    questions, predictions, ratings = folder / "questions.jsonl", folder / "predictions.csv", folder / "ratings.csv"
    rows: list[tuple[str, str, str, str]] = []
    with questions.open("w") as file:
        for at, name in enumerate(cited):
            words = texts[name].text.split()[1:-1]
            question, answer = (
                f"which of {' '.join(rng.sample(words, 6))} is number {at}",
                " ".join(rng.sample(words, 2)),
            )
            file.write(json.dumps({"question": question, "answer": [answer, answer.title()]}) + "\n")
            given = answer if rng.random() < 0.5 else f"not {at}"
            rows.append((question, given, name, rng.choice("YN")))
    for path, header, width in (
        (predictions, ("question", "answer", "attribution"), 3),
        (ratings, ("question", "answer", "attribution", "human_rating"), 4),
    ):
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows(row[:width] for row in rows)
    return questions, predictions, ratings


def read_plainly(predictions: Path, questions: Path) -> dict[str, dict[str, str]]:
    """The released script's reading of the questions' texts and of the predictions."""
    with questions.open(encoding="utf-8") as file:
        known = {json.loads(line)["question"] for line in file}
    with predictions.open(encoding="utf-8", newline="") as file:
        return {row["question"]: row for row in csv.DictReader(file) if row["question"] in known}


def scoring(folder: Path, shards: Sequence[Path], corpus: Path, figures: dict[str, Any]) -> None:
    """Measure reading and warm scoring on a benchmark with 100,000 passages."""
    from core.benchmark import NewBenchmark
    from core.settings import Settings
    from scorer import judges
    from server.bootstrap import build

    # Settings by hand: whatever the environment says, this runs on a SQLite file of its own.
    services = build(Settings(data_dir=str(folder / "data"), bootstrap_resamples=RESAMPLES))
    services.database.ensure_current()
    questions, predictions, ratings = write_benchmark(folder / "files", corpus)
    benchmark = services.benchmarks.add(NewBenchmark("made", questions, shards))
    with ratings.open("rb") as stream:
        services.ratings.apply("made", stream, "ratings.csv", author="benchmark")

    def validate() -> Any:
        with predictions.open("rb") as stream:
            return services.intake.validate("made", stream, predictions.name)

    ours, accepted = best(validate)
    theirs, plain = best(lambda: read_plainly(predictions, questions))
    if len(accepted.predictions) != len(plain) or len(plain) != QUESTIONS:
        sys.exit("the two ways read different rows")
    figures["read_validate"] = figure(theirs, ours, "s")
    print(f"read and validate {QUESTIONS:,} rows: ours {ours * 1000:.0f} ms, plain reading {theirs * 1000:.0f} ms")

    judge = judges.load("token-overlap")
    cold, _ = timed(lambda: services.scorer_with(judge).score(benchmark, accepted.predictions))
    # A new scorer each time: the resamples are drawn anew, as in a fresh process.
    warm, found = best(lambda: services.scorer_with(judge).score(benchmark, accepted.predictions), runs=3)
    loop, _ = best(lambda: list(scipy_intervals(found)), runs=2)
    figures["score_warm"] = figure(loop, warm, "s")
    print(f"score {QUESTIONS:,} rows: cold {cold:.2f} s, warm {warm:.2f} s; SciPy's intervals alone {loop:.2f} s")


def scipy_intervals(found: Any) -> Iterator[Any]:
    """One `scipy.stats.bootstrap` per metric, on the values that we measured."""
    import numpy as np
    from scipy.stats import bootstrap

    rng = np.random.default_rng(5)
    for key in found.scores:
        values = found.values[key][~np.isnan(found.values[key])]
        yield bootstrap((values,), np.mean, n_resamples=RESAMPLES, batch=500, rng=rng)


def main() -> None:
    """Measure everything and print the figures; the last line is one JSON object with `--json`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--build", nargs="+", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.build:
        build_here(chosen.build[0], chosen.build[1:])
        return
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="aqa-intake-") as name:
        shards, corpus = lookups(Path(name), figures)
        scoring(Path(name), shards, corpus, figures)
    for key, about in figures.items():
        print(f"{key}: {about['ratio']}")
    if chosen.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
