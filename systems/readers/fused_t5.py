"""Fusion-in-Decoder over any T5 checkpoint: passages are encoded apart, the decoder attends to all of them at once.

Izacard and Grave (2021); the reader of AQA §4.1. The weights are T5's own: any `T5ForConditionalGeneration` loads.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers import T5ForConditionalGeneration
from transformers.modeling_outputs import BaseModelOutput

from core.errors import InvalidInput


class FusedT5(T5ForConditionalGeneration):  # type: ignore[misc]
    """T5 whose inputs have three dimensions, questions × passages × tokens; two are one passage each, plain T5."""

    accepts_loss_kwargs = False  # its loss is a plain mean over the batch

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        encoder_outputs: Any = None,
        **rest: Any,
    ) -> Any:
        """As T5's; the loss over `labels` where they are given."""
        if input_ids is not None and input_ids.dim() == 3 and encoder_outputs is None:
            if attention_mask is None:
                raise InvalidInput("Passages come with an attention mask.", "Hand in what the tokenizer gave.")
            states, attention_mask = self.fuse(input_ids, attention_mask)
            encoder_outputs, input_ids = BaseModelOutput(last_hidden_state=states), None
        return super().forward(
            input_ids=input_ids, attention_mask=attention_mask, encoder_outputs=encoder_outputs, **rest
        )

    def fuse(self, input_ids: Tensor, attention_mask: Tensor, rows: int | None = None) -> tuple[Tensor, Tensor]:
        """The encoder's states of each question's passages end to end, and their mask.

        Both inputs are questions × passages × tokens, padded on the right; a passage that is not there is all padding.
        States are questions × most real tokens × width: padding within is left out, so that no step of the decoder
        pays for it. `rows` passages of like length are encoded at a time (None: all).
        """
        questions, passages, tokens = input_ids.shape
        ids, mask = input_ids.reshape(-1, tokens), attention_mask.reshape(-1, tokens).bool()
        lengths = mask.sum(dim=1)
        ends = lengths.reshape(questions, passages).cumsum(dim=1)
        width = int(ends[:, -1].max())
        firsts = torch.arange(questions, device=ids.device)[:, None] * width + ends
        starts = firsts.reshape(-1) - lengths
        by_length = lengths.argsort(stable=True)
        there = by_length[lengths[by_length] > 0]
        fused = torch.zeros(questions * width, self.config.d_model, dtype=self.dtype, device=ids.device)
        for some in torch.split(there, rows or max(len(there), 1)):
            longest = int(lengths[some].max())
            real = mask[some, :longest]
            states = self.encoder(input_ids=ids[some, :longest], attention_mask=real.to(attention_mask.dtype))[0]
            places = starts[some, None] + torch.arange(longest, device=ids.device)
            fused = fused.index_put((places[real],), states[real].to(fused.dtype))
        filled = torch.arange(width, device=ids.device) < ends[:, -1:]
        return fused.reshape(questions, width, -1), filled.to(attention_mask.dtype)

    @torch.inference_mode()
    def answer(
        self, input_ids: Tensor, attention_mask: Tensor, *, max_new_tokens: int, rows: int | None = None
    ) -> Tensor:
        """Greedy answers (questions × new tokens, after the start token), from passages as `fuse` takes them."""
        states, mask = self.fuse(input_ids, attention_mask, rows)
        written: Tensor = self.generate(
            encoder_outputs=BaseModelOutput(last_hidden_state=states),
            attention_mask=mask,
            max_new_tokens=max_new_tokens,
            do_sample=False,
            num_beams=1,
        )
        return written[:, 1:]
