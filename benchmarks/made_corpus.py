"""A corpus of made-up passages in any size, and the way in which AQA's released script finds passages in one."""

from __future__ import annotations

import json
import multiprocessing
import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path

SHARDS = 10


def text_source(rng: random.Random) -> str:
    """Two million letters of made-up words, to cut passages from."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    vocabulary = ["".join(rng.choices(letters, k=rng.randint(2, 10))) for _ in range(20_000)]
    return " ".join(rng.choices(vocabulary, k=300_000))


def write_corpus(folder: Path, size: int) -> list[Path]:
    """Shards of passages of about 100 words in the corpus format."""
    folder.mkdir()
    rng = random.Random(size)
    source = text_source(rng)
    shards = [folder / f"part-{shard:02}.jsonl" for shard in range(SHARDS)]
    for shard, path in enumerate(shards):
        with path.open("w", encoding="utf-8") as file:
            for at in range(shard * size // SHARDS, (shard + 1) * size // SHARDS):
                start = rng.randrange(len(source) - 700)
                contents = f"« Page {at // 5} » « Page {at // 5}, Part {at % 5} » {source[start : start + 660]}"
                file.write(json.dumps({"id": identifier(at), "contents": contents}, ensure_ascii=False) + "\n")
    return shards


def identifier(at: int) -> str:
    """The id of a passage, in the manner of the real corpus."""
    return f"http://en.wikipedia.org/wiki/Page_{at // 5}#Page_{at // 5}#Part_{at % 5}#{at % 5}"


def scan_shard(path: Path, wanted: frozenset[str]) -> dict[str, str]:
    """The released script's way through one shard."""
    passages = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            entry = json.loads(line)
            if entry["id"] in wanted:
                passages[entry["id"]] = entry["contents"]
    return passages


def scan(shards: Sequence[Path], wanted: frozenset[str], processes: int) -> dict[str, str]:
    """The released script's way through all shards."""
    found: dict[str, str] = {}
    if processes == 1:
        for path in shards:
            found |= scan_shard(path, wanted)
        return found
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        for passages in pool.imap_unordered(partial(scan_shard, wanted=wanted), shards):
            found |= passages
    return found
