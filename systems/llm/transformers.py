"""Causal and encoder-decoder models run here by transformers: batched by length, padded on the left, greedy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import InvalidInput, NotInstalled
from core.extras import how_to_install
from systems.checkpoints import fetch, loading
from systems.llm import shared_prefix
from systems.llm.drawing import drawing_of
from systems.llm.stopping import cut, storable
from systems.records import Completion

if TYPE_CHECKING:
    from torch import Tensor

BATCH = 16


@dataclass
class TransformersModel:
    """One loaded model. `batch` prompts of like length are completed together.

    With `temperature` 0 the likeliest token is taken; else tokens are drawn, for each prompt by `seed` and the prompt
    alone. What a batch's prompts begin with alike is read once. Padding and that move probabilities by rounding, so a
    near-tie may fall otherwise in another batch.
    """

    name: str
    model: Any
    tokenizer: Any
    identity: str
    seed: int = 0
    temperature: float = 0.0
    batch: int = BATCH

    @property
    def signature(self) -> str:
        """Weights, number format, library, decoding and batch size."""
        from transformers import __version__

        number = str(self.model.dtype).removeprefix("torch.")
        decoding = f"temperature={self.temperature:g}|seed={self.seed}|batch={self.batch}|prefix=shared"
        return f"transformers:{self.identity}|dtype={number}|transformers:{__version__}|{decoding}"

    def drawing(self, temperature: float, seed: int) -> TransformersModel:
        """The same model with another temperature and seed."""
        return replace(self, temperature=temperature, seed=seed)

    def generate(self, prompts: Sequence[str], *, max_new_tokens: int, stop: Sequence[str] = ()) -> list[Completion]:
        """One completion per prompt, in their order. Raises `InvalidInput` for a prompt that the window cannot hold."""
        ids = [self.tokenizer(prompt)["input_ids"] for prompt in prompts]
        self._check(ids, max_new_tokens)
        order = sorted(range(len(ids)), key=lambda at: len(ids[at]))
        done: dict[int, Completion] = {}
        for start in range(0, len(order), self.batch):
            chosen = order[start : start + self.batch]
            written = self._generate([ids[at] for at in chosen], max_new_tokens, stop)
            for at, tokens in zip(chosen, written, strict=True):
                done[at] = self._completion(len(ids[at]), tokens, stop)
        return [done[at] for at in range(len(ids))]

    def _check(self, ids: list[list[int]], max_new_tokens: int) -> None:
        window = getattr(self.model.config, "max_position_embeddings", None)
        longest, shortest = max(map(len, ids), default=0), min(map(len, ids), default=1)
        if not shortest:
            raise InvalidInput("A prompt is empty.", "Write something for the model to go on from.")
        needed = longest if self.model.config.is_encoder_decoder else longest + max_new_tokens
        if window is not None and needed > window:
            raise InvalidInput(
                f"A prompt of {longest} tokens does not fit {self.name}'s window of {window}.",
                "Show fewer exemplars or passages, or write fewer tokens.",
            )

    def _generate(self, ids: list[list[int]], max_new_tokens: int, stop: Sequence[str]) -> list[list[int]]:
        """The tokens that each prompt is followed by, up to its end token, stop string or limit."""
        import torch

        pad, seq2seq = self.tokenizer.pad_token_id, self.model.config.is_encoder_decoder
        prefix = 0 if seq2seq else shared_prefix.shared(ids)
        batch, mask = shared_prefix.padded(ids, pad, prefix)
        options: dict[str, Any] = {"stop_strings": list(stop), "tokenizer": self.tokenizer} if stop else {}
        if self.temperature > 0:
            options["logits_processor"] = [drawing_of(ids, self.temperature, self.seed)]
        with torch.inference_mode():
            if prefix:
                options["cache"] = shared_prefix.read(self.model, ids[0][:prefix], len(ids))
            written: Tensor = self.model.generate(
                input_ids=batch.to(self.model.device),
                attention_mask=mask.to(self.model.device),
                max_new_tokens=max_new_tokens,
                pad_token_id=pad,
                do_sample=False,
                **options,
            )
        rows: list[list[int]] = written[:, 1 if seq2seq else batch.shape[1] :].tolist()
        return rows

    def _completion(self, prompt_tokens: int, tokens: list[int], stop: Sequence[str]) -> Completion:
        """What a row says: rows that ended before others of their batch are padded, which is no part of them."""
        ends = self.model.generation_config.eos_token_id
        known = {ends} if isinstance(ends, int) else set(ends or ())
        end = next((at for at, token in enumerate(tokens) if token in known), None)
        tokens = tokens if end is None else tokens[: end + 1]
        text, stopped = cut(self._text(tokens), stop)
        if stopped:
            tokens = tokens[: next(n for n in range(1, len(tokens) + 1) if cut(self._text(tokens[:n]), stop)[1])]
        return Completion(text, prompt_tokens, len(tokens), "length" if end is None and not stopped else "stop")

    def _text(self, tokens: list[int]) -> str:
        return storable(self.tokenizer.decode(tokens, skip_special_tokens=True))


def load(where: str, *, seed: int = 0, dtype: str = "", device: str = "", **options: Any) -> TransformersModel:
    """`owner/name@revision` or a folder; bfloat16 on a GPU, float32 elsewhere, unless `dtype` says otherwise."""
    checkpoint, folder = fetch(where)
    name = folder.name if checkpoint.name == "local" else checkpoint.name
    with loading(where):
        return _load(folder, name, checkpoint.identity, dtype, device, seed=seed, **options)


def load_gguf(path: Path, *, name: str, identity: str, seed: int = 0, **options: Any) -> TransformersModel:
    """A GGUF file, its weights widened to float32."""
    from importlib.util import find_spec

    if find_spec("gguf") is None:
        raise NotInstalled("The package gguf is not installed.", f"Install it with: {how_to_install('llm')}")
    return _load(path.parent, name, identity, "float32", "cpu", seed=seed, gguf_file=path.name, **options)


def _load(
    folder: Path, name: str, identity: str, dtype: str, device: str, gguf_file: str | None = None, **options: Any
) -> TransformersModel:
    try:
        import torch
        from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer
    except ImportError:
        raise NotInstalled(
            "torch and transformers are not installed.", f"Install them with: {how_to_install('worker')}"
        ) from None
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    number = getattr(torch, dtype or ("float32" if device == "cpu" else "bfloat16"))
    kept: dict[str, Any] = {"trust_remote_code": False} | ({"gguf_file": gguf_file} if gguf_file else {})
    config = AutoConfig.from_pretrained(folder, **kept)
    kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    if config.is_encoder_decoder and number == torch.float16:
        raise InvalidInput("T5 overflows in float16.", "Take bfloat16 or float32.")
    tokenizer = AutoTokenizer.from_pretrained(folder, **kept)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    model = kind.from_pretrained(folder, dtype=number, **kept, **({} if gguf_file else {"use_safetensors": True}))
    model.generation_config = _plain(model.generation_config, tokenizer.pad_token_id)
    return TransformersModel(name, model.to(device).eval(), tokenizer, identity, **options)


def _plain(own: Any, pad: int) -> Any:
    """A generation config with the checkpoint's special tokens and none of its other habits, such as penalties."""
    from transformers import GenerationConfig

    return GenerationConfig(
        bos_token_id=own.bos_token_id,
        eos_token_id=own.eos_token_id,
        pad_token_id=pad,
        decoder_start_token_id=own.decoder_start_token_id,
    )
