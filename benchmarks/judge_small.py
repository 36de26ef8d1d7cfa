"""The small judge's pairs per second on pairs of about 150 tokens, against a plain MiniLM cosine on the same file.

The cosine (one vector for the passage, one for the statement, same ONNX file, same threads, one text a time) is the
cheapest thing the encoder can do for a pair, so the ratio says what the rest costs.
Pairs differ in passage, question and answer; nothing is cached between them. `cpu_ms` is processor time of all threads
per pair, which other work on the machine inflates less than it does wall time.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from core.records import Pair, Passage
from core.templates import qa_pair
from scorer.judges import small_encoder, small_model
from scorer.judges.small import Small, _cores

SEED, TOKENS, RUNS = 20221215, 150, 3
_PEOPLE = ("Marta Lindqvist", "Otto Brandt", "Ines Carvalho", "Pavel Dvorak", "Aiko Tanaka", "Samuel Okafor")
_THINGS = ("bridge", "theatre", "library", "lighthouse", "canal", "observatory", "railway station", "museum")
_PLACES = ("Harlem", "Tarnow", "Ostrava", "Coimbra", "Uppsala", "Kilkenny", "Trieste", "Nagoya")
_DEEDS = ("designed", "restored", "opened", "paid for", "painted", "surveyed", "managed", "described")


def made_pairs(n: int, count: object) -> list[Pair]:
    """Pairs whose premise and hypothesis have about `TOKENS` tokens together; `count(text)` counts them."""
    dice = random.Random(SEED)
    pairs = []
    for k in range(n):
        person, thing, place, deed = (dice.choice(words) for words in (_PEOPLE, _THINGS, _PLACES, _DEEDS))
        title = f"{thing.title()} of {place} {k}"
        text = f"{person} {deed} the {thing} of {place} in {dice.randint(1700, 1990)}."
        pair = qa_pair(f"who {deed} the {thing} of {place}", person, Passage(str(k), title, title, text))
        while count(f"{pair.premise} {pair.hypothesis}") < TOKENS:  # type: ignore[operator]
            text += (
                f" In {dice.randint(1700, 1990)} {dice.choice(_PEOPLE)} {dice.choice(_DEEDS)} a {dice.choice(_THINGS)}"
                f" near {dice.choice(_PLACES)}, which had cost {dice.randint(2, 900)} thousand crowns."
            )
            pair = qa_pair(str(pair.question), person, Passage(str(k), title, title, text))
        pairs.append(pair)
    return pairs


def main() -> None:
    """Measure and print one JSON object as the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print only the JSON object")
    parser.add_argument("--pairs", type=int, default=400)
    chosen = parser.parse_args()
    fitted = small_model.load()
    encoder = small_encoder.load("", fitted.encoder)
    judge = Small(encoder, fitted)
    pairs = made_pairs(chosen.pairs, lambda text: len(encoder._tokenizer.encode(text, add_special_tokens=False).ids))

    def cosine(pair: Pair) -> float:
        premise, statement = (encoder.encode(t).vectors.mean(axis=0) for t in (pair.premise, pair.hypothesis))
        return float(premise @ statement / np.linalg.norm(premise) / np.linalg.norm(statement))

    def plain() -> None:
        with ThreadPoolExecutor(_cores()) as pool:
            list(pool.map(cosine, pairs))

    judge.judge(pairs[:20])
    walls: dict[str, list[float]] = {"ours": [], "theirs": []}
    processor: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(RUNS):
        for name, work in (("theirs", plain), ("ours", lambda: judge.judge(pairs))):
            start, used = time.perf_counter(), time.process_time()
            work()
            walls[name].append(time.perf_counter() - start)
            processor[name].append(time.process_time() - used)
    rates = {name: len(pairs) / min(times) for name, times in walls.items()}
    cpu = {name: round(min(times) / len(pairs) * 1000, 2) for name, times in processor.items()}
    ratio = rates["ours"] / rates["theirs"]
    result = {"small_vs_minilm_cosine": {"ratio": ratio, **rates, "unit": "pairs/s", "cpu_ms": cpu}}
    if not chosen.json:
        print(
            f"{rates['ours']:.0f} pairs/s on {_cores()} cores ({TOKENS} tokens), {cpu['ours']} ms of processor time a "
            f"pair; cosine {rates['theirs']:.0f} pairs/s, {cpu['theirs']} ms"
        )
    print(json.dumps(result))


if __name__ == "__main__":
    main()
