"""A tiny causal model made on the spot: one token per byte, random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WINDOW = 512


def tokenizer() -> Any:
    """Bytes as tokens, then `<|end|>`; nothing is added to a text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    bare = Tokenizer(models.BPE(vocab={letter: at for at, letter in enumerate(letters)}, merges=[]))
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(tokenizer_object=bare, eos_token="<|end|>")
    made.pad_token = made.eos_token
    return made


def random_causal(folder: Path, seed: int = 0) -> Path:
    """A saved Llama of two layers."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    words = tokenizer()
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=WINDOW,
        bos_token_id=None,
        eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
        initializer_range=0.3,
        tie_word_embeddings=True,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder
