"""Tokens drawn by a seed for each prompt, so that a text does not depend on which prompts share its batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.text import hash_key

if TYPE_CHECKING:
    from torch import Generator, Tensor


class Drawing:
    """A logits processor after which the likeliest token is a draw from the softmax of logits over temperature.

    Adding Gumbel noise and taking the maximum is drawing (the Gumbel-max trick); each row has noise of its own.
    """

    def __init__(self, rows: Sequence[Generator], temperature: float) -> None:
        self._rows = rows
        self._temperature = temperature

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Logits (rows × vocabulary) with noise."""
        import torch

        noise = torch.stack([torch.rand(scores.shape[1], generator=row, dtype=torch.float64) for row in self._rows])
        gumbel = -torch.log(-torch.log(noise.clamp(1e-300, 1 - 1e-16)))
        return scores / self._temperature + gumbel.to(scores.device, scores.dtype)


def drawing_of(ids: Sequence[Sequence[int]], temperature: float, seed: int) -> Drawing:
    """The draws for some prompts' tokens: the same prompt and seed draw the same noise in every batch."""
    import torch

    seeds = [hash_key(str(seed), *map(str, each), size=8) for each in ids]
    rows = [torch.Generator().manual_seed(int.from_bytes(each) >> 1) for each in seeds]
    return Drawing(rows, temperature)
