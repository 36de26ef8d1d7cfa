"""Models that a Hub holds, and what is asked of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from core.checkpoints import FILES
from submissions.sources.model import Rules
from tests.fake_hub import FakeHub, serving

CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama"}
GOOD: dict[str, bytes] = {
    "config.json": json.dumps(CONFIG).encode(),
    "model.safetensors": b"w" * 5_000,
    "tokenizer.json": b"{}",
    "README.md": b"# Model",
}
CARD = {"cardData": {"license": "mit"}}
RULES = Rules(FILES, 1_000_000, ("mit", "apache-2.0"))


@contextmanager
def good_hub() -> Iterator[FakeHub]:
    """A Hub that holds `lab/good`, a model with nothing to be said against it."""
    with serving(FakeHub()) as running:
        running.model("lab/good", files=dict(GOOD), info=dict(CARD))
        yield running
