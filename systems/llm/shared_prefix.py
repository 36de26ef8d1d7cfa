"""What the prompts of a batch begin with alike, such as solved examples, is read once and shared by all its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

WORTH = 32
"""Shorter beginnings are read with the rest of each prompt."""


def shared(ids: Sequence[Sequence[int]]) -> int:
    """How many first tokens all rows have in common and leave each at least one of its own; 0 where it is not worth it.

    Of a single row nothing is shared.
    """
    if len(ids) < 2:
        return 0
    first, last = min(map(list, ids)), max(map(list, ids))
    most = min(map(len, ids)) - 1
    same = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    count = min(same, most)
    return count if count >= WORTH else 0


def padded(ids: Sequence[Sequence[int]], pad: int, prefix: int) -> tuple[Tensor, Tensor]:
    """Rows of one length and their mask; padding stands between the shared prefix and a row's own tokens."""
    import torch

    length = max(map(len, ids))
    batch = torch.full((len(ids), length), pad)
    mask = torch.zeros_like(batch)
    for row, each in enumerate(ids):
        own = length - len(each) + prefix
        batch[row, :prefix], batch[row, own:] = torch.tensor(each[:prefix]), torch.tensor(each[prefix:])
        mask[row, :prefix] = mask[row, own:] = 1
    return batch, mask


def read(model: Any, prefix: Sequence[int], rows: int) -> Any:
    """The cache of keys and values after the prefix, for that many rows."""
    import torch
    from transformers import DynamicCache

    ids, cache = torch.tensor([list(prefix)], device=model.device), DynamicCache(config=model.config)
    model(input_ids=ids, cache=cache, use_cache=True, logits_to_keep=1)
    cache.batch_repeat_interleave(rows)
    return cache
