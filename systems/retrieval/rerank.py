"""Reranking by a cross-encoder, which reads query and passage together (AQA §4.1: a reranker trained on NQ)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from core.checkpoints import Checkpoint
from core.errors import InvalidInput
from systems.checkpoints import fetch, loading
from systems.records import Retrieved
from systems.retrieval.dense_build import text_of


class CrossEncoderReranker:
    """Scores each hit with the model's one output; ties keep their order."""

    def __init__(self, checkpoint: Checkpoint, folder: Path, batch: int = 32) -> None:
        from sentence_transformers import CrossEncoder

        self._model: Any = CrossEncoder(str(folder), local_files_only=True, trust_remote_code=False)
        self._batch = batch
        self.signature = f"rerank:{checkpoint.identity}"

    def rerank(self, queries: Sequence[str], hits: Sequence[Sequence[Retrieved]]) -> list[list[Retrieved]]:
        """The same hits with the model's scores, best first."""
        pairs = [(query, text_of(hit.passage)) for query, each in zip(queries, hits, strict=True) for hit in each]
        scores = self._model.predict(pairs, batch_size=self._batch, show_progress_bar=False).tolist() if pairs else []
        fresh = iter(scores)
        scored = [[Retrieved(hit.passage, float(next(fresh))) for hit in each] for each in hits]
        return [sorted(each, key=lambda hit: -hit.score) for each in scored]


def load_cross_encoder(spec: str) -> CrossEncoderReranker:
    """The cross-encoder of `owner/name@revision` or a folder."""
    checkpoint, folder = fetch(spec)
    with loading(spec):
        _one_output(folder, spec)
        return CrossEncoderReranker(checkpoint, folder)


def _one_output(folder: Path, spec: str) -> None:
    config = orjson.loads((folder / "config.json").read_bytes())
    labels = len(config.get("id2label") or {0: ""})
    if labels != 1:
        raise InvalidInput(
            f"{spec} has {labels} outputs; a reranker has one.", "Name a cross-encoder that scores relevance."
        )
