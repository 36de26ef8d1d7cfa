"""Readers: a question and passages in, an answer out."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from core.errors import InvalidInput
from systems.records import Reader

REGISTRY: dict[str, str] = {
    "prompt": "systems.readers.prompt:load",
    "cite": "systems.readers.prompt:load_citing",
    "fid": "systems.readers.fid:load",
}
"""Reader → the function (model, seed) → Reader; loaded when asked for."""


def load(spec: str, *, model: str, seed: int = 0) -> Reader:
    """The reader `prompt` or `cite` on any language model, or `fid` on a T5 checkpoint.

    Raises `InvalidInput` for no such reader, and what loading the model raises.
    """
    if spec not in REGISTRY:
        raise InvalidInput(f"There is no reader {spec!r}.", f"Readers: {', '.join(REGISTRY)}.")
    module, _, function = REGISTRY[spec].partition(":")
    loader: Callable[..., Reader] = getattr(import_module(module), function)
    return loader(model, seed=seed)
