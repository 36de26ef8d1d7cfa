"""The T5 judge against the released script's loop and against padded batches, on the same pairs and weights.

On a CPU: a T5-small-shaped model with random weights, real pairs, and a tokenizer trained on their passages. The
released script judges one example at a time in float32 with `generate`, capped here at the two tokens that a trained
judge needs; the batches are 32 rows in arrival order, padded, with the same `generate`. All are timed in turn, round
by round, and the median of the rounds' ratios is given. Where torch sees a GPU, `benchmarks.judge_gpu` runs as well.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from core.records import Pair, Passage
from core.templates import qa_pair, t5_input
from scorer import judges
from scorer.judges.placement import cpu_has_bf16

DEMANDED = {"vs_released_loop": 1.7, "vs_padded_batches": 2.2, "bf16_vs_released_loop": 4.0}
BATCH, WARM_UP = 32, 8
SECONDS = 480
"""No round starts that would end later than this after the first."""
Timed = dict[str, Callable[[list[Pair]], object]]


def real_pairs(folder: Path, count: int) -> tuple[list[Pair], list[str]]:
    """Questions with a reference answer and a passage annotated as supporting; and all passages' texts."""
    passages = {row["id"]: row["contents"] for row in _rows(folder / "corpus" / "passages.jsonl")}
    answers = {row["question"]: row["answer"][0] for row in _rows(folder / "nq_open" / "NQ-open.dev.jsonl")}
    gold = [row for row in _rows(folder / "corpus" / "gold_passages.jsonl") if row["question"] in answers]
    pairs = []
    for row in random.Random(0).sample(gold, count):
        identifier = row["passage_ids"][0]
        title, headings, text = passages[identifier].removeprefix("« ").replace(" » « ", " » ", 1).split(" » ", 2)
        pairs.append(qa_pair(row["question"], answers[row["question"]], Passage(identifier, title, headings, text)))
    return pairs, list(passages.values())


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def small_checkpoint(folder: Path, texts: list[str]) -> None:
    """A T5-small-shaped model with random weights and a unigram tokenizer of 16,000 pieces trained on `texts`."""
    from tokenizers import Tokenizer, models, trainers
    from transformers import T5Config, T5ForConditionalGeneration, T5TokenizerFast

    trained = Tokenizer(models.Unigram())
    trained.pre_tokenizer = T5TokenizerFast().backend_tokenizer.pre_tokenizer
    special = ["<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=16_000, special_tokens=special, unk_token="<unk>", show_progress=False, n_sub_iterations=1
    )
    trained.train_from_iterator(islice(texts, 2_000), trainer)
    pieces = [(piece, score) for piece, score in json.loads(trained.to_str())["model"]["vocab"] if piece != "▁1"]
    sentinels = [(f"<extra_id_{number}>", 0.0) for number in range(99, -1, -1)]
    T5TokenizerFast(vocab=[*pieces, ("▁1", -8.0), *sentinels]).save_pretrained(folder)
    torch.manual_seed(0)
    T5ForConditionalGeneration(T5Config(decoder_start_token_id=0)).save_pretrained(folder)


def contenders(folder: Path) -> Timed:
    """What is timed: each judges the pairs it is given, from text to verdict."""
    from transformers import T5ForConditionalGeneration, T5TokenizerFast

    words = T5TokenizerFast.from_pretrained(folder)
    network = T5ForConditionalGeneration.from_pretrained(folder).eval()

    def generate(pairs: list[Pair], size: int) -> None:
        texts = [t5_input(pair.premise, pair.hypothesis) for pair in pairs]
        for at in range(0, len(texts), size):
            inputs = words(texts[at : at + size], return_tensors="pt", padding=size > 1)
            with torch.inference_mode():
                out = network.generate(**inputs, min_new_tokens=2, max_new_tokens=2, do_sample=False)
            words.batch_decode(out, skip_special_tokens=True)

    timed: Timed = {
        "released loop": lambda pairs: generate(pairs, 1),
        "padded batches": lambda pairs: generate(pairs, BATCH),
    }
    for dtype in ("fp32", "bf16"):
        timed[f"ours {dtype}"] = judges.load(f"t5:{folder}?device=cpu&dtype={dtype}").judge
    return timed


def largest_difference(folder: Path, pairs: list[Pair]) -> float:
    """Largest |ln p − ln p'| between the judge in float32 and the model's own forward, one pair at a time."""
    from transformers import T5ForConditionalGeneration, T5TokenizerFast

    words = T5TokenizerFast.from_pretrained(folder)
    network = T5ForConditionalGeneration.from_pretrained(folder).eval()
    plain = []
    with torch.inference_mode():
        for pair in pairs:
            ids = words(t5_input(pair.premise, pair.hypothesis), return_tensors="pt")["input_ids"]
            logits = network(input_ids=ids, decoder_input_ids=torch.zeros((1, 1), dtype=torch.long)).logits[0, 0]
            plain.append(float(logits.log_softmax(-1)[words.encode("1")[0]]))
    judged = judges.load(f"t5:{folder}?device=cpu&dtype=fp32").judge(pairs)
    return max(abs(math.log(judgment.p) - p) for judgment, p in zip(judged, plain, strict=True))


def measure(timed: Timed, pairs: list[Pair], rounds: int, clock: Callable[[], float]) -> dict[str, list[float]]:
    """Seconds of each contender in each round, all in turn, after a few untimed pairs."""
    for run in timed.values():
        run(pairs[:WARM_UP])
    seconds: dict[str, list[float]] = {name: [] for name in timed}
    started = time.perf_counter()
    for done in range(rounds):
        elapsed = time.perf_counter() - started
        if done and elapsed * (done + 1) / done > SECONDS:
            print(f"Stopped after {done} of {rounds} rounds: the machine is slow or busy.")
            break
        for name, run in timed.items():
            begun = clock()
            run(pairs)
            seconds[name].append(clock() - begun)
    return seconds


def results(seconds: dict[str, list[float]], pairs: int) -> dict[str, dict[str, Any]]:
    """Median ratio of the rounds and median milliseconds a pair, by key; prints the spread."""
    compared = {
        "vs_released_loop": ("ours fp32", "released loop"),
        "vs_padded_batches": ("ours fp32", "padded batches"),
        "bf16_vs_released_loop": ("ours bf16", "released loop"),
    }
    out: dict[str, dict[str, Any]] = {}
    for key, (ours, theirs) in compared.items():
        if ours == "ours bf16" and not cpu_has_bf16():
            print(f"{key}: left out, this processor has no bf16 instructions")
            continue
        ratios = [slow / fast for fast, slow in zip(seconds[ours], seconds[theirs], strict=True)]
        mine, other = (statistics.median(seconds[name]) / pairs * 1e3 for name in (ours, theirs))
        out[key] = {"ratio": statistics.median(ratios), "ours": mine, "theirs": other, "unit": "ms/pair"}
        spread = f"rounds {min(ratios):.2f} to {max(ratios):.2f}, demanded {DEMANDED[key]}"
        print(f"{key}: {out[key]['ratio']:.2f} ({spread}); {ours} {mine:.1f}, {theirs} {other:.1f} ms/pair")
    return out


def main() -> int:
    """The command; exit status 2 where the real data is absent."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    parser.add_argument("--pairs", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall", help="cpu: on a machine that is busy")
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    root = Path(__file__).resolve().parents[2]
    data = Path(os.environ.get("AQA_SHARED_DATA", root / "shared" / "data"))
    if not (data / "corpus").is_dir():
        print(f"No real pairs: {data} is absent. Set AQA_SHARED_DATA to the folder of real data.", file=sys.stderr)
        return 2
    pairs, texts = real_pairs(data, chosen.pairs)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small_checkpoint(folder, texts)
        judge: Any = judges.load(f"t5:{folder}?device=cpu")
        lengths = [len(row) for row in judge._encode(pairs)[0]]
        print(
            f"{len(pairs)} pairs, {statistics.mean(lengths):.0f} tokens on average, {max(lengths)} at most; "
            f"{torch.get_num_threads()} threads; largest |ln p − ln reference| {largest_difference(folder, pairs):.1e}"
        )
        clock = time.perf_counter if chosen.clock == "wall" else time.process_time
        found = results(measure(contenders(folder), pairs, chosen.rounds, clock), len(pairs))
    if torch.cuda.is_available():
        from benchmarks.judge_gpu import measure_gpu

        found |= measure_gpu()
    else:
        print("No GPU at hand: the T5-XXL-shaped run was left out.")
    if chosen.json:
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
