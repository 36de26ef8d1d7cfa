"""Reranking by a cross-encoder, which reads query and passage together (AQA §4.1: a reranker trained on NQ)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from core.errors import InvalidInput
from systems.checkpoints import Checkpoint, fetch
from systems.records import Retrieved
from systems.retrieval.dense_build import text_of


class CrossEncoderReranker:
    """Scores each hit with the model's one output; ties keep their order."""

    def __init__(self, checkpoint: Checkpoint, batch: int = 32) -> None:
        from sentence_transformers import CrossEncoder

        self._model: Any = CrossEncoder(str(checkpoint.folder), local_files_only=True, trust_remote_code=False)
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
    checkpoint = fetch(spec)
    _one_output(checkpoint)
    return CrossEncoderReranker(checkpoint)


def _one_output(checkpoint: Checkpoint) -> None:
    config = orjson.loads((checkpoint.folder / "config.json").read_bytes())
    labels = len(config.get("id2label") or {0: ""})
    if labels != 1:
        raise InvalidInput(
            f"{checkpoint.name} has {labels} outputs; a reranker has one.",
            "Name a cross-encoder that scores relevance.",
        )
