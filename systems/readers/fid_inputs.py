"""What a Fusion-in-Decoder model reads, in training and after it: one text per passage, padded to three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.records import Passage

if TYPE_CHECKING:
    from torch import Tensor

MAX_TOKENS = 512
"""Tokens of question and passage together, the length that T5 was trained with; longer ones are cut at the end."""


def fid_text(question: str, passage: Passage) -> str:
    """Question, headings and text with their labels, as in Izacard and Grave (2021)."""
    return f"question: {question} title: {passage.headings or passage.title} context: {passage.text}"


def encode(ids: Sequence[Sequence[Sequence[int]]], max_tokens: int, pad: int, end: int) -> tuple[Tensor, Tensor]:
    """Token ids and their mask, questions × most passages × most tokens, padded on the right.

    A passage of more than `max_tokens` is cut, and still ends with the end token.
    """
    import torch

    cut = [[[*each[: max_tokens - 1], end] if len(each) > max_tokens else list(each) for each in some] for some in ids]
    shape = len(cut), max(map(len, cut)), max(len(each) for some in cut for each in some)
    inputs, mask = torch.full(shape, pad), torch.zeros(shape, dtype=torch.long)
    for row, some in enumerate(cut):
        for column, each in enumerate(some):
            inputs[row, column, : len(each)] = torch.tensor(each)
            mask[row, column, : len(each)] = 1
    return inputs, mask
