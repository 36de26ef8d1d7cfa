"""A T5-XXL-shaped model in bf16 with random weights on one GPU: pairs/s, tokens/s, share of the matmul rate."""

from __future__ import annotations

import random
import time
from typing import Any

import torch

from scorer.judges.batching import plan
from scorer.judges.t5_forward import FirstStep
from scorer.judges.t5_model import GPU_BUDGET

PAIRS, PREMISE, HYPOTHESIS = 3_610, 200, 30


def flops(config: Any, lengths: list[int]) -> float:
    """Multiplications and additions of the judge's work on rows of these lengths.

    Encoder, a layer: 2·L·(4·d·h + 3·d·f) for the projections (h = heads × size, f = feed-forward, gated) and 4·L²·h
    for attention. Decoder, a layer and row: 2·(6·d·h + 3·d·f) and 4·L·d·heads to attend to the states. Head: 2·d·V.
    """
    d, f, heads = config.d_model, config.d_ff, config.num_heads
    h = heads * config.d_kv
    encoder = sum(2 * n * (4 * d * h + 3 * d * f) + 4 * n * n * h for n in lengths) * config.num_layers
    decoder = sum(2 * (6 * d * h + 3 * d * f) + 4 * n * d * heads for n in lengths) * config.num_decoder_layers
    return float(encoder + decoder + len(lengths) * 2 * d * config.vocab_size)


def matmul_rate(device: str) -> float:
    """FLOP/s of a large bf16 matrix product, the best of ten."""
    a, b = (torch.randn(8192, 8192, device=device, dtype=torch.bfloat16) for _ in range(2))
    best = float("inf")
    for _ in range(12):
        torch.cuda.synchronize()
        started = time.perf_counter()
        a @ b
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - started)
    return 2 * 8192**3 / best


def measure_gpu(device: str = "cuda:0") -> dict[str, dict[str, Any]]:
    """Judge 3,610 random pairs with premises of about 200 tokens; prints all figures, returns the share of the rate."""
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(
        d_model=4096, d_kv=64, d_ff=10240, num_layers=24, num_heads=64, decoder_start_token_id=0,
        feed_forward_proj="gated-gelu", tie_word_embeddings=False,
    )  # fmt: skip
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device(device):
            network = T5ForConditionalGeneration(config).eval()
    finally:
        torch.set_default_dtype(default)
    first, rng = FirstStep(network), random.Random(0)
    lengths = [PREMISE + HYPOTHESIS + rng.randint(-40, 40) for _ in range(PAIRS)]
    batches = plan(lengths, GPU_BUDGET)
    _judge(first, [[lengths[row] for row in batch] for batch in batches[:2]], device)
    started = time.perf_counter()
    _judge(first, [[lengths[row] for row in batch] for batch in batches], device)
    seconds = time.perf_counter() - started
    reached, rate = flops(config, lengths) / seconds, matmul_rate(device)
    print(
        f"{torch.cuda.get_device_name(device)}: {PAIRS} pairs in {seconds:.1f} s, {PAIRS / seconds:.0f} pairs/s, "
        f"{sum(lengths) / seconds:.0f} tokens/s, {reached / 1e12:.0f} of {rate / 1e12:.0f} TFLOP/s"
    )
    return {
        "gpu_matmul_share": {"ratio": reached / rate, "ours": reached / 1e12, "theirs": rate / 1e12, "unit": "TFLOP/s"}
    }


def _judge(first: FirstStep, batches: list[list[int]], device: str) -> None:
    for lengths in batches:
        width = -(-lengths[0] // 8) * 8
        ids = torch.randint(3, 32_000, (len(lengths), width), device=device)
        first.logits(ids, torch.tensor(lengths, device=device)).softmax(-1)[:, 209].tolist()
    torch.cuda.synchronize()
