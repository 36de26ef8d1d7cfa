"""BM25: queries a second against rank_bm25 on 100,000 passages, index build, memory of a mapped index of 1,000,000.

Both search the same terms of the same passages for the same queries, with k1 0.9, b 0.4; rank_bm25 is given the best
of its ways to the first 100 hits (scores of all passages, then a partial sort). It is timed on a sample of the
queries. Our time holds the analysis of the queries and the reading of the passages found; numba's compilation,
which happens once in a process, is told apart. All times are processor seconds of the one thread that works, so that
a busy machine does not tell.

With `--work FOLDER` what is built and measured stays there, and a script that was stopped goes on with the next step
(`FOLDER/measured.json`); without, everything is made anew in a temporary folder. Each step is told on stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PASSAGES, LARGE, QUERIES, SAMPLED, K = 100_000, 1_000_000, 2_000, 20, 100
WORDS, VOCABULARY, SEED = 100, 200_000, 20221215


def write_corpus(path: Path, size: int) -> None:
    """Passages of about 100 words drawn with the skew of natural text less its function words (Zipf–Mandelbrot)."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    words = np.array([f"{'aeiou'[at % 5]}{at:x}" for at in range(VOCABULARY)])
    shares = np.cumsum(1 / (np.arange(VOCABULARY) + 30.0))
    with path.open("w") as file:
        for start in range(0, size, 10_000):
            places = rng.random((min(10_000, size - start), WORDS)) * shares[-1]
            drawn = words[np.searchsorted(shares, places).clip(max=VOCABULARY - 1)]
            for at, each in enumerate(drawn, start=start):
                contents = f"« Page {at // 10} » « Page {at // 10} » {' '.join(each)}"
                file.write(json.dumps({"id": f"http://example.org/{at}", "contents": contents}) + "\n")


def queries(path: Path, count: int) -> list[str]:
    """Queries of eight words, each eight words of one passage."""
    dice = random.Random(SEED)
    with path.open() as file:
        lines = [line for _, line in zip(range(20_000), file, strict=False)]
    texts = (json.loads(dice.choice(lines))["contents"].split(" » ")[2].split() for _ in range(count))
    return [" ".join(dice.sample(text, 8)) for text in texts]


class Measured:
    """Figures step by step, kept in the work folder as they come."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "measured.json"
        self._held: dict[str, Any] = json.loads(self._path.read_text()) if self._path.is_file() else {}

    def step(self, name: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What a step measured, now or before it was stopped."""
        if name in self._held:
            print(f"{name}: measured before", file=sys.stderr, flush=True)
        else:
            print(f"{name} …", file=sys.stderr, flush=True)
            self._held[name] = measure()
            partial = self._path.with_suffix(".writing")
            partial.write_text(json.dumps(self._held))
            partial.replace(self._path)
        found: dict[str, Any] = self._held[name]
        return found


def opened(folder: Path, size: int, *, anew: bool = False) -> tuple[Any, Any, float]:
    """A corpus of `size` passages, its retriever, and the seconds that building the index took.

    `anew` builds the whole index, whatever a stopped build has left.
    """
    from core import corpus as corpora
    from systems.retrieval.bm25 import open_bm25
    from systems.retrieval.store import IndexStore

    shard = folder / f"{size}.jsonl"
    if not shard.is_file():
        partial = shard.with_suffix(".writing")
        write_corpus(partial, size)
        partial.replace(shard)
    digest, _ = corpora.build([shard], folder / "corpora")
    corpus = corpora.Corpus(folder / "corpora" / f"{digest}.sqlite")
    if anew:
        shutil.rmtree(folder / "indexes", ignore_errors=True)
    begin = time.process_time()
    retriever = open_bm25(IndexStore(folder / "indexes"), corpus, progress=_tell)
    return corpus, retriever, time.process_time() - begin


def _tell(done: int, total: int) -> None:
    print(f"  index: {done:,} of {total:,} passages", file=sys.stderr, flush=True)


def against_rank_bm25(folder: Path, measured: Measured) -> dict[str, Any]:
    """Queries a second of both, after checking that they find the same passages."""
    here = folder / str(PASSAGES)
    here.mkdir(parents=True, exist_ok=True)
    built = measured.step("build 100,000", lambda: {"seconds": opened(here, PASSAGES, anew=True)[2]})["seconds"]
    told = measured.step("search 100,000", lambda: _searched(here))
    print(
        f"{PASSAGES:,} passages: {told['ours']:,.0f} against {told['theirs']:,.1f} queries/s; first hits agree in "
        f"{told['agreed']} of {SAMPLED}; numba compiled in {told['compiled']:.1f} s; built in {built:.1f} s against "
        f"{told['theirs_built']:.1f} s",
        file=sys.stderr,
    )
    ours, theirs, theirs_built = told["ours"], told["theirs"], told["theirs_built"]
    return {
        "bm25_queries": {"ratio": ours / theirs, "ours": ours, "theirs": theirs, "unit": "queries/s"},
        "bm25_build": {"ratio": theirs_built / built, "ours": built, "theirs": theirs_built, "unit": "s"},
    }


def _searched(folder: Path) -> dict[str, Any]:
    import numpy as np
    from rank_bm25 import BM25Okapi

    from systems.retrieval.analysis import Analyzer
    from systems.retrieval.bm25_build import contents

    corpus, retriever, _ = opened(folder, PASSAGES)
    asked = queries(folder / f"{PASSAGES}.jsonl", QUERIES)
    begin = time.process_time()
    retriever.search(asked[:1], K)
    compiled = time.process_time() - begin
    begin = time.process_time()
    found = retriever.search(asked, K)
    ours = QUERIES / (time.process_time() - begin)
    print("  rank_bm25 …", file=sys.stderr, flush=True)
    analyzer, passages = Analyzer(), list(corpus.scan())
    begin = time.process_time()
    theirs_index = BM25Okapi([analyzer.terms(contents(passage)) for passage in passages], k1=0.9, b=0.4)
    theirs_built = time.process_time() - begin
    agreed = 0
    begin = time.process_time()
    for query, hits in zip(asked[:SAMPLED], found, strict=False):
        scores = theirs_index.get_scores(analyzer.terms(query))
        best = np.argpartition(-scores, K)[:K]
        best = best[np.argsort(-scores[best])]
        agreed += passages[best[0]].id == hits[0].passage.id
    theirs = SAMPLED / (time.process_time() - begin)
    if agreed < 0.9 * SAMPLED:
        raise SystemExit(f"only {agreed} of {SAMPLED} first hits agree")
    return {"ours": ours, "theirs": theirs, "agreed": agreed, "compiled": compiled, "theirs_built": theirs_built}


def large(folder: Path, small: float, measured: Measured) -> dict[str, Any]:
    """Building the large index and searching it, each in a process of its own, so that memory is told apart.

    `small` is the seconds of building the smaller one; growth is per passage, 1 where time grows with the corpus.
    """
    folder /= str(LARGE)
    folder.mkdir(parents=True, exist_ok=True)
    build = measured.step("build 1,000,000", lambda: _apart("build", folder))
    search = measured.step("search 1,000,000", lambda: _apart("search", folder))
    size = sum(path.stat().st_size for path in (folder / "indexes").glob("bm25-*/*.npy")) / 2**20
    grown = build["seconds"] / small / (LARGE / PASSAGES)
    print(
        f"{LARGE:,} passages: built in {build['seconds']:.0f} s at a peak of {build['peak']:.0f} MiB; {size:.0f} MiB "
        f"of arrays; opened in {search['seconds']:.2f} s with {search['opened']:.0f} MiB of own memory, after "
        f"{search['queries']} queries ({search['rate']:.0f}/s) {search['own']:.0f} MiB",
        file=sys.stderr,
    )
    memory = {"ratio": size / search["opened"], "ours": search["opened"], "theirs": size, "unit": "MiB"}
    growth = {"ratio": grown, "ours": build["seconds"], "theirs": small, "unit": "s"}
    return {"bm25_build_growth": growth, "bm25_mapped_memory": memory}


def _apart(step: str, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.retrieval", "--step", step, "--folder", str(folder)]
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    told: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return told


def step(name: str, folder: Path) -> dict[str, Any]:
    """One step of `large` in this process."""
    if name == "build":
        _, _, seconds = opened(folder, LARGE, anew=True)
        return {"seconds": seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    import bm25s  # noqa: F401 - so that the library's own memory is not counted as the index's
    import numba  # noqa: F401

    from core.corpus import Corpus
    from systems.retrieval.bm25 import open_bm25
    from systems.retrieval.store import IndexStore

    before = _own_memory()
    corpus = Corpus(max((folder / "corpora").glob("*.sqlite"), key=lambda path: path.stat().st_size))
    begin = time.process_time()
    retriever = open_bm25(IndexStore(folder / "indexes"), corpus)
    seconds, after = time.process_time() - begin, _own_memory() - before
    asked = queries(folder / f"{LARGE}.jsonl", 200)
    retriever.search(asked[:1], K)
    begin = time.process_time()
    retriever.search(asked, K)
    rate = len(asked) / (time.process_time() - begin)
    own = _own_memory() - before
    return {"seconds": seconds, "opened": after, "own": own, "queries": len(asked), "rate": rate}


def _own_memory() -> float:
    """MiB that belong to this process alone; pages mapped from files can be dropped at any time and do not count."""
    lines = Path(f"/proc/{os.getpid()}/smaps_rollup").read_text().splitlines()
    values = {line.split(":")[0]: int(line.split()[1]) for line in lines[1:]}
    return (values["Private_Dirty"] + values["Swap"]) / 1024


def measure(folder: Path) -> dict[str, Any]:
    """All figures."""
    measured = Measured(folder)
    figures = against_rank_bm25(folder, measured)
    return figures | large(folder, figures["bm25_build"]["ours"], measured)


def main() -> None:
    """Print the figures; with `--json` the last line is one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--work", type=Path, help="a folder to keep what is built and measured in")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        print(json.dumps(step(given.step, given.folder)))
        return
    if given.work:
        given.work.mkdir(parents=True, exist_ok=True)
        figures = measure(given.work)
    else:
        with tempfile.TemporaryDirectory() as folder:
            figures = measure(Path(folder))
    if given.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
