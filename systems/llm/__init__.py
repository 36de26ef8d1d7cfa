"""Language models behind one Protocol: `load("smollm2")`, `load("openai:MODEL@BASE_URL")`, `load("owner/name@sha")`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from core.errors import InvalidInput
from systems.records import LLM

REGISTRY: dict[str, str] = {
    "openai": "systems.llm.openai:load_chat",
    "openai-text": "systems.llm.openai:load_text",
    "transformers": "systems.llm.transformers:load",
    "smollm2": "systems.llm.smollm2:load",
    "smollm2-batched": "systems.llm.smollm2:load_batched",
}
"""Kind → the function (what stands after the colon, seed, options) → LLM; loaded when asked for."""


def parse(spec: str) -> tuple[str, str]:
    """The kind and what stands after its colon. Raises `InvalidInput` for what names no language model."""
    kind, colon, where = spec.partition(":")
    if kind in REGISTRY:
        return kind, where
    if colon or "/" not in spec:
        raise InvalidInput(
            f"{spec!r} names no language model.",
            f"Write KIND:WHERE with one of {', '.join(REGISTRY)}, or owner/name@revision, or a folder.",
        )
    return "transformers", spec


def load(spec: str, *, seed: int = 0, **options: Any) -> LLM:
    """The model that `KIND:WHERE` names; a bare `owner/name@revision` or folder is for transformers.

    `options` go to the kind's own loader. Raises `InvalidInput` for no such kind, `Unavailable` where an extra or
    the endpoint is missing, `NotFound` where the model is.
    """
    kind, where = parse(spec)
    module, _, function = REGISTRY[kind].partition(":")
    loader: Callable[..., LLM] = getattr(import_module(module), function)
    return loader(where, seed=seed, **options)
