"""The Fusion-in-Decoder reader: a T5 trained by `systems.training.train_fid`, from a hub id or a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.errors import InvalidInput, NotInstalled
from core.extras import how_to_install
from core.records import Passage
from systems.checkpoints import fetch, loading
from systems.llm.stopping import storable
from systems.readers.fid_inputs import MAX_TOKENS, encode, fid_text
from systems.records import Reading

if TYPE_CHECKING:
    from systems.readers.fused_t5 import FusedT5

MAX_NEW_TOKENS = 32
TOKENS_AT_ONCE = {"cpu": 4_096, "cuda": 131_072}
"""Encoder tokens, padding included, that one batch may have, by kind of device."""


@dataclass
class FidReader:
    """Answers greedily; questions of like size share a batch. It names no passage: which one is the system's choice."""

    model: FusedT5
    tokenizer: Any
    identity: str
    max_tokens: int = MAX_TOKENS
    max_new_tokens: int = MAX_NEW_TOKENS

    @property
    def signature(self) -> str:
        """Weights, number format, library and lengths."""
        from transformers import __version__

        number = str(self.model.dtype).removeprefix("torch.")
        lengths = f"max_tokens={self.max_tokens}|max_new_tokens={self.max_new_tokens}"
        return f"fid:{self.identity}|dtype={number}|transformers:{__version__}|{lengths}"

    def read(self, question: str, passages: Sequence[Passage]) -> Reading:
        """The answer from all passages together; with no passage, an empty answer."""
        return self.read_all([question], [passages])[0]

    def read_all(self, questions: Sequence[str], passages: Sequence[Sequence[Passage]]) -> list[Reading]:
        """One reading per question; its trace says which passages were cut to `max_tokens`, and holds usage."""
        texts = [[fid_text(q, each) for each in some] for q, some in zip(questions, passages, strict=True)]
        ids = [self.tokenizer(some)["input_ids"] if some else [] for some in texts]
        readings = [Reading("") for _ in questions]
        for batch in self._batches(ids):
            for at, reading in zip(batch, self._read([ids[at] for at in batch]), strict=True):
                readings[at] = reading
        return readings

    def _batches(self, ids: Sequence[Sequence[Sequence[int]]]) -> list[list[int]]:
        """Questions with passages, by size, as many together as the device is given at once."""
        most = TOKENS_AT_ONCE.get(self.model.device.type, TOKENS_AT_ONCE["cpu"])
        sizes = [sum(min(len(each), self.max_tokens) for each in some) for some in ids]
        batches: list[list[int]] = []
        held = 0
        for at in sorted((at for at, size in enumerate(sizes) if size), key=sizes.__getitem__):
            if not batches or held + sizes[at] > most:
                batches.append([])
                held = 0
            batches[-1].append(at)
            held += sizes[at]
        return batches

    def _read(self, ids: list[list[list[int]]]) -> list[Reading]:
        inputs, mask = encode(ids, self.max_tokens, self.tokenizer.pad_token_id, self.tokenizer.eos_token_id)
        rows = max(1, TOKENS_AT_ONCE.get(self.model.device.type, TOKENS_AT_ONCE["cpu"]) // inputs.shape[2])
        device = self.model.device
        written = self.model.answer(inputs.to(device), mask.to(device), max_new_tokens=self.max_new_tokens, rows=rows)
        return [self._reading(*each) for each in zip(ids, mask.sum(dim=(1, 2)).tolist(), written.tolist(), strict=True)]

    def _reading(self, ids: list[list[int]], read: int, written: list[int]) -> Reading:
        end = self.tokenizer.eos_token_id
        ended = end in written
        tokens = written[: written.index(end) + 1] if ended else written
        text = storable(self.tokenizer.decode(tokens, skip_special_tokens=True))
        trace: dict[str, Any] = {"raw": text, "finish": "stop" if ended else "length"}
        trace["usage"] = {"prompt_tokens": read, "new_tokens": len(tokens), "cost": None}
        cut = [at for at, each in enumerate(ids) if len(each) > self.max_tokens]
        return Reading(text.strip(), None, trace | ({"cut_passages": cut} if cut else {}))


def load(model: str, *, seed: int = 0, dtype: str = "", device: str = "") -> FidReader:
    """`owner/name@revision` or a folder; bfloat16 on a GPU, float32 elsewhere. Greedy, so the seed changes nothing.

    Raises `InvalidInput` for another kind of model and for float16, in which T5 overflows.
    """
    checkpoint, folder = fetch(model)
    try:
        import torch
        from transformers import AutoConfig, AutoTokenizer

        from systems.readers.fused_t5 import FusedT5
    except ImportError:
        raise NotInstalled(
            "torch and transformers are not installed.", f"Install them with: {how_to_install('worker')}"
        ) from None
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    number = dtype or ("float32" if device == "cpu" else "bfloat16")
    if number == "float16":
        raise InvalidInput("T5 overflows in float16.", "Take bfloat16 or float32.")
    with loading(model):
        kind = AutoConfig.from_pretrained(folder, trust_remote_code=False).model_type
        if kind != "t5":
            told = f"{model} is a {kind} model; the fid reader needs a t5 one."
            raise InvalidInput(told, "Take reader: prompt for it.")
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        loaded = FusedT5.from_pretrained(folder, dtype=getattr(torch, number), use_safetensors=True)
    return FidReader(loaded.to(device).eval(), tokenizer, checkpoint.identity)
