"""A T5 checkpoint, its pinned tokenizer class, and batches of first-step logits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from core.checkpoints import Checkpoint
from core.errors import InvalidInput, NotFinite, Unavailable
from scorer.judges.batching import plan
from scorer.judges.checkpoints import fetch, read_config, resolve
from scorer.judges.options import Options
from scorer.judges.placement import Placement, place
from scorer.judges.t5_forward import BLOCK, FirstStep
from scorer.judges.tokens import label_id

CPU_BUDGET, GPU_BUDGET = 1024, 16384


class T5Model:
    """Pinned and placed when made; fetched and loaded when first used."""

    def __init__(self, source: str, options: Options) -> None:
        """Errors as in `checkpoints.resolve` and `placement.place`; `InvalidInput` for another architecture."""
        self.checkpoint: Checkpoint = resolve(source)
        config = _config(self.checkpoint)
        budget = options.batch_tokens or GPU_BUDGET
        per_token = 4 * (config.d_model + config.num_heads * config.d_kv) + 3 * config.d_ff + config.num_heads * BLOCK
        identity = self.checkpoint.identity
        self.placement: Placement = place(options, identity, self.checkpoint.parameters, budget * per_token)
        self.budget = options.batch_tokens or (GPU_BUDGET if self.placement.on_gpu else CPU_BUDGET)

    @cached_property
    def tokenizer(self) -> Any:
        """Always the fast T5 class: others cut some texts differently."""
        from transformers import T5TokenizerFast

        return T5TokenizerFast.from_pretrained(fetch(self.checkpoint), local_files_only=True)

    @cached_property
    def network(self) -> Any:
        """The loaded model. Raises `Unavailable` where a part of it did not fit the GPUs."""
        from transformers import T5ForConditionalGeneration

        device = self.placement.device
        network = T5ForConditionalGeneration.from_pretrained(
            fetch(self.checkpoint),
            dtype=self.placement.torch_dtype,
            device_map="auto" if device == "auto" else {"": device},
            use_safetensors=True,
            local_files_only=True,
        ).eval()
        if device == "auto" and {"cpu", "disk"} & {str(place) for place in network.hf_device_map.values()}:
            raise Unavailable(f"{self.checkpoint.identity} does not fit the GPUs", "Use more or larger GPUs.")
        return network

    def label(self, text: str) -> int:
        """The id that stands for a label, checked. Raises `InvalidInput` where it does not read as the label."""
        number = label_id(self.tokenizer, text)
        if self.tokenizer.decode([number]).strip() != text:
            raise InvalidInput(
                f"{self.checkpoint.identity}: the first token of {text!r} reads {self.tokenizer.decode([number])!r}",
                "Name a T5 checkpoint whose vocabulary has the label as one token.",
            )
        return number

    def first_logits(self, rows: Sequence[Sequence[int]]) -> Iterator[tuple[list[int], Tensor]]:
        """Row numbers and their logits (rows × vocabulary, float32), batch by batch, longest rows first.

        Raises `NotFinite` where a logit is NaN or infinite.
        """
        first = FirstStep(self.network)
        device = self.network.encoder.embed_tokens.weight.device
        multiple = 8 if self.placement.on_gpu else 1
        for batch in plan([len(row) for row in rows], self.budget):
            lengths = [len(rows[row]) for row in batch]
            width = -(-lengths[0] // multiple) * multiple
            pad = self.network.config.pad_token_id
            ids = torch.tensor([[*rows[row], *[pad] * (width - len(rows[row]))] for row in batch], device=device)
            logits = first.logits(ids, torch.tensor(lengths, device=device))
            if not bool(logits.isfinite().all()):
                raise NotFinite(
                    f"{self.checkpoint.identity} in {self.placement.dtype} put out a number that is not finite",
                    "Nothing of this batch is kept. Check the weights, or use fp32.",
                )
            yield batch, logits


def _config(checkpoint: Checkpoint) -> Any:
    config = read_config(checkpoint)
    if config.model_type != "t5":
        raise InvalidInput(
            f"{checkpoint.identity} is a {config.model_type} model, not a T5 one",
            "Use `nli:` for a sequence-classification model.",
        )
    return config
