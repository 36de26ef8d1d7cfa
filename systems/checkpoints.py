"""The checkpoints that systems load: fetched and checked, and what goes wrong in loading told in our terms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from core.checkpoints import Checkpoint, check_weights, is_folder, local
from core.errors import AqaError, InvalidInput, NotFound, Refused
from core.hub_errors import first_line

TOKENIZERS = ("tokenizer.json", "tokenizer.model", "spiece.model", "vocab.json", "vocab.txt")
"""Any of these files is a tokenizer."""


def fetch(where: str) -> tuple[Checkpoint, Path]:
    """The pinned model of `owner/name@revision`, downloaded once, or of a folder, and the folder of its files.

    Without a revision the newest commit is taken, and named. Raises `NotFound`, `InvalidInput`, `Forbidden` (gated),
    `Refused` (no safetensors, no tokenizer) or `Unavailable` (hub not reached).
    """
    if not where:
        raise InvalidInput("No checkpoint is named.", "Write owner/name@revision, or a folder's path.")
    if is_folder(where):
        found = local(where)
    else:
        from core import hub_checkpoints

        name, _, revision = where.partition("@")
        pinned = hub_checkpoints.resolve(name, revision or None)
        found = replace(pinned, folder=hub_checkpoints.fetch(pinned))
    assert found.folder is not None
    if not (found.folder / "config.json").is_file():
        raise NotFound(f"{where} holds no config.json.", "Name a transformers checkpoint.")
    check_weights(found.folder, where)
    if not any((found.folder / name).is_file() for name in TOKENIZERS):
        raise Refused(f"{where} holds no tokenizer.", "Save it beside the model: tokenizer.save_pretrained(FOLDER).")
    return found, found.folder


@contextmanager
def loading(where: str) -> Iterator[None]:
    """Tells what a library raises over a model's files as a refusal of the model, with the library's first line."""
    from safetensors import SafetensorError

    try:
        yield
    except (AqaError, ImportError):
        raise
    except (OSError, ValueError, KeyError, AttributeError, RuntimeError, SafetensorError) as error:
        raise Refused(
            f"{where} cannot be loaded: {first_line(error)}",
            "It takes a whole transformers checkpoint that needs no code of its own.",
        ) from error
