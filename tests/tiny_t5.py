"""Small T5 checkpoints made on the spot: a hand-written vocabulary, random weights, or a few seconds of training."""

from __future__ import annotations

import random
import string
from pathlib import Path
from typing import Any

from core.records import Pair, Passage
from core.templates import qa_pair, t5_input

PEOPLE = ("Ada", "Grace", "Alan", "Emmy", "Kurt", "Rosa")
CITIES = ("Paris", "Rome", "Oslo", "Lima", "Cairo", "Quito")
TEMPLATE = "premise: hypothesis: predict: The answer to the question is where does live in"
WORDS = (*PEOPLE, *CITIES, *TEMPLATE.split())


def tokenizer() -> Any:
    """As T5's vocabulary: `1` is one token, `0` an empty piece and another, `<` is unknown, sentinels at the end."""
    from transformers import T5TokenizerFast

    letters = [c for c in string.ascii_letters + string.digits + string.punctuation + "▁é" if c not in "<>{}"]
    vocabulary = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁1", -3.0)]
    vocabulary += [(space + word, -4.0) for space in ("▁", "") for word in WORDS] + [
        (letter, -9.0) for letter in letters
    ]
    vocabulary += [(f"<extra_id_{number}>", 0.0) for number in range(99, -1, -1)]
    return T5TokenizerFast(vocab=vocabulary)


def random_t5(folder: Path, seed: int = 0, gated: bool = True) -> Path:
    """A saved checkpoint with random weights; gated as T5 1.1, or as the first T5."""
    _save(_network(seed, gated), folder)
    return folder


def fact(person: str, city: str, claimed: str) -> Pair:
    """A passage that says where somebody lives, and a claim about it."""
    return qa_pair(f"where does {person} live", claimed, Passage("x", person, person, f"{person} is in {city}"))


def trained_t5(folder: Path, steps: int = 400) -> Path:
    """A saved checkpoint that says `1` where the passage names the claimed city, and `0` elsewhere."""
    import torch

    network, words, rng = _network(1, gated=True), tokenizer(), random.Random(1)
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3)
    network.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 3e-3 * min(1.0, (step + 1) / 30) * (1 - step / steps)
        texts, labels = zip(*(_example(rng) for _ in range(32)), strict=True)
        batch = words(list(texts), return_tensors="pt", padding=True)
        loss = network(
            **batch, labels=words(list(labels), return_tensors="pt", padding="max_length", max_length=3)["input_ids"]
        ).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    _save(network.eval(), folder)
    return folder


def _example(rng: random.Random) -> tuple[str, str]:
    city = rng.choice(CITIES)
    claimed = city if rng.random() < 0.5 else rng.choice([other for other in CITIES if other != city])
    pair = fact(rng.choice(PEOPLE), city, claimed)
    return t5_input(pair.premise, pair.hypothesis), "1" if claimed == city else "0"


def _network(seed: int, gated: bool) -> Any:
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(seed)
    config = T5Config(
        vocab_size=256,
        d_model=64,
        d_kv=16,
        d_ff=128,
        num_heads=4,
        num_layers=2,
        dropout_rate=0.0,
        decoder_start_token_id=0,
        feed_forward_proj="gated-gelu" if gated else "relu",
        tie_word_embeddings=not gated,
    )
    return T5ForConditionalGeneration(config).eval()


def _save(network: Any, folder: Path) -> None:
    network.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
