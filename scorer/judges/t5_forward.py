"""A T5 model's logits at its first decoder step, by one encoder pass and one decoder step over its own weights.

It differs from the model's own `forward` in cost alone: the single decoder query is taken to the encoder's
states, not every state to a key and a value (their projections are 1/6 of the work), and attention runs in blocks
of queries, so that memory grows with length and not with its square.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

BLOCK = 1024
"""Most queries that attend at once; fewer where they see more than 4,096 keys."""

ONEDNN: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None) if torch._C._has_mkldnn else None
"""The matrix product that torch's own CPU compiler emits; None where this build of torch lacks it."""


class FirstStep:
    """Reads the weights of a `T5ForConditionalGeneration`; changes nothing in it."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._scale = model.config.d_model**-0.5 if getattr(model.config, "scale_decoder_outputs", False) else 1.0
        self._start = model.config.decoder_start_token_id

    @torch.inference_mode()
    def logits(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Float32 logits (rows × vocabulary) for token ids (rows × longest), padded on the right."""
        mask = _padding_mask(lengths, ids.shape[1])
        states = self._encode(ids, mask)
        decoder = self._model.decoder
        x = decoder.embed_tokens(torch.full_like(ids[:, 0], self._start)).to(states.dtype)
        for block in decoder.block:
            weight = block.layer[1].EncDecAttention.q.weight
            states, mask = states.to(weight.device), None if mask is None else mask.to(weight.device)
            x = _decoder_layer(block, x.to(weight.device), states, mask)
        x = _norm(decoder.final_layer_norm, x) * self._scale
        head = self._model.lm_head.weight
        return _linear(x.to(head.device), head).float()

    def _encode(self, ids: Tensor, mask: Tensor | None) -> Tensor:
        encoder = self._model.encoder
        x = encoder.embed_tokens(ids)
        bias = _PositionBias(encoder.block[0].layer[0].SelfAttention, ids.shape[1], mask)
        for block in encoder.block:
            attention = block.layer[0].SelfAttention
            x = x.to(attention.q.weight.device)
            x = x + _self_attention(attention, _norm(block.layer[0].layer_norm, x), bias)
            x = _feed_forward(block.layer[1], x)
        return _norm(encoder.final_layer_norm, x)


class _PositionBias:
    """What is added to attention scores: a bias by key − query, and −∞ where the key is padding."""

    def __init__(self, attention: Any, length: int, mask: Tensor | None) -> None:
        device = attention.relative_attention_bias.weight.device
        buckets = attention._relative_position_bucket(
            torch.arange(1 - length, length, device=device),
            bidirectional=True,
            num_buckets=attention.relative_attention_num_buckets,
            max_distance=attention.relative_attention_max_distance,
        )
        self._by_offset = attention.relative_attention_bias(buckets).T.contiguous()
        self._length = length
        self._mask = mask
        self._whole = self._rows(0, length) if length <= BLOCK else None

    def rows(self, start: int, stop: int, device: torch.device) -> Tensor:
        """Rows (or 1) × heads × queries × keys, for the queries from `start` to `stop`."""
        if self._whole is None:
            return self._rows(start, stop).to(device)
        self._whole = self._whole.to(device)
        return self._whole

    def _rows(self, start: int, stop: int) -> Tensor:
        places = torch.arange(self._length, device=self._by_offset.device)
        bias: Tensor = self._by_offset[:, places[None, :] - places[start:stop, None] + self._length - 1][None]
        return bias if self._mask is None else bias.masked_fill(~self._mask.to(bias.device), float("-inf"))


def _padding_mask(lengths: Tensor, longest: int) -> Tensor | None:
    """Whether a key is a token (rows × 1 × 1 × longest); None where nothing is padding."""
    if bool((lengths == longest).all()):
        return None
    return (torch.arange(longest, device=lengths.device)[None, :] < lengths[:, None])[:, None, None, :]


def _self_attention(attention: Any, x: Tensor, bias: _PositionBias) -> Tensor:
    rows, length, _ = x.shape
    shape = (rows, length, attention.n_heads, attention.key_value_proj_dim)
    step = max(1, min(BLOCK, BLOCK * 4096 // length))
    projections = (attention.q, attention.k, attention.v)
    query, key, value = (_linear(x, part.weight).view(shape).transpose(1, 2) for part in projections)
    blocks = [
        _attend(query[:, :, start:stop], key, value, bias.rows(start, stop, x.device))
        for start in range(0, length, step)
        for stop in (min(start + step, length),)
    ]
    attended = blocks[0] if len(blocks) == 1 else torch.cat(blocks, 2)
    return _linear(attended.transpose(1, 2).reshape(rows, length, -1), attention.o.weight)


def _attend(query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
    if query.device.type == "cpu" and query.dtype == torch.bfloat16:
        # torch's fused kernel is half as fast here: it multiplies in small blocks.
        scores = (query @ key.transpose(-1, -2)).float() + bias
        return scores.softmax(-1).to(value.dtype) @ value
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=bias, scale=1.0)


def _decoder_layer(block: Any, x: Tensor, states: Tensor, mask: Tensor | None) -> Tensor:
    """One decoder block at the first step, where self-attention sees only itself: x is rows × width."""
    own, cross = block.layer[0], block.layer[1]
    x = x + _linear(_linear(_norm(own.layer_norm, x), own.SelfAttention.v.weight), own.SelfAttention.o.weight)
    attention = cross.EncDecAttention
    heads, size = attention.n_heads, attention.key_value_proj_dim
    query = _linear(_norm(cross.layer_norm, x), attention.q.weight).view(-1, heads, size)
    reach = torch.einsum("nhk,hkd->nhd", query, attention.k.weight.view(heads, size, -1))
    scores = reach @ states.transpose(1, 2)
    if mask is not None:
        scores = scores.masked_fill(~mask[:, 0], float("-inf"))
    seen = scores.float().softmax(-1).to(states.dtype) @ states
    value = torch.einsum("nhd,hkd->nhk", seen, attention.v.weight.view(heads, size, -1))
    x = x + _linear(value.reshape(len(x), -1), attention.o.weight)
    return _feed_forward(block.layer[2], x)


def _feed_forward(layer: Any, x: Tensor) -> Tensor:
    dense = layer.DenseReluDense
    h = _norm(layer.layer_norm, x)
    if hasattr(dense, "wi_0"):
        h = dense.act(_linear(h, dense.wi_0.weight)) * _linear(h, dense.wi_1.weight)
    else:
        h = dense.act(_linear(h, dense.wi.weight))
    return x + _linear(h.to(dense.wo.weight.dtype), dense.wo.weight).to(x.dtype)


def _linear(x: Tensor, weight: Tensor) -> Tensor:
    """x Wᵀ. In float32 on a CPU by oneDNN, which is twice as fast as torch's default, MKL, on some processors."""
    if x.device.type == "cpu" and x.dtype == torch.float32 and ONEDNN is not None:
        out: Tensor = ONEDNN(x, weight, None, "none", [], "")
        return out
    return functional.linear(x, weight)


def _norm(layer: Any, x: Tensor) -> Tensor:
    return functional.rms_norm(x, layer.weight.shape, layer.weight.to(x.dtype), layer.variance_epsilon)
