"""Dense retrieval: cosine of a query's vector and every passage's, or of those that IVF-PQ leaves (AQA §4.1: GTR)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.corpus import Corpus
from core.errors import Refused
from systems.records import Retrieved
from systems.retrieval.dense_build import FLAT_UP_TO, IVF, ROWS, VECTORS, build
from systems.retrieval.encoder import Encoder, Vectors, load_encoder
from systems.retrieval.store import IndexStore, Progress, read_manifest, silent

_QUERIES_AT_ONCE = 256
_CANDIDATES = 4
"""IVF-PQ gives this many times k passages, which exact inner products then order."""


class Dense:
    """A retriever by meaning. Every passage has some cosine, so every query has hits where the corpus has passages."""

    def __init__(self, corpus: Corpus, encoder: Encoder, folder: Path) -> None:
        self._corpus = corpus
        self._encoder = encoder
        self.manifest = read_manifest(folder)
        self._rows = np.load(folder / ROWS, mmap_mode="r")
        self._vectors = np.load(folder / VECTORS, mmap_mode="r")
        self._ivf = _open_ivf(folder) if self.manifest["kind"] != "flat" else None
        self.signature = f"dense:{encoder.identity}|{self.manifest['kind']}|cosine"
        _check_unit(self._vectors[: min(len(self._rows), 64)], "index")

    def search(self, queries: Sequence[str], k: int) -> list[list[Retrieved]]:
        """The k passages of highest cosine per query, best first; all passages where k is more than there are.

        A query of no words has no hits.
        """
        found: list[list[Retrieved]] = [[] for _ in queries]
        asked = [at for at, query in enumerate(queries) if query.strip()]
        k = min(k, len(self._rows))
        for start in range(0, len(asked) if k > 0 else 0, _QUERIES_AT_ONCE):
            some = asked[start : start + _QUERIES_AT_ONCE]
            vectors = self._encoder.queries([queries[at] for at in some])
            _check_unit(vectors, "query")
            scores, places = self._nearest(vectors, k)
            for at, hits in zip(some, self._with_passages(scores, places), strict=True):
                found[at] = hits
        return found

    def flags(self, query: str) -> tuple[str, ...]:
        """Says if the encoder reads only a query's beginning."""
        cut = self._encoder.truncated([query])[0]
        return (f"query cut by the encoder to {self._encoder.longest} tokens",) if cut else ()

    def _nearest(self, vectors: Vectors, k: int) -> tuple[Any, Any]:
        import faiss

        if self._ivf is None:
            held = np.asarray(self._vectors[: len(self._rows)])
            return faiss.knn(vectors, held, k, metric=faiss.METRIC_INNER_PRODUCT)
        _, candidates = self._ivf.search(vectors, min(_CANDIDATES * k, len(self._rows)))
        exact = np.full(candidates.shape, -np.inf, np.float32)
        for at, each in enumerate(candidates):
            real = each >= 0
            exact[at, real] = self._vectors[each[real]] @ vectors[at]
        order = np.argsort(-exact, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(exact, order, 1), np.take_along_axis(candidates, order, 1)

    def _with_passages(self, scores: Any, places: Any) -> list[list[Retrieved]]:
        hits = [
            [(int(self._rows[place]), float(score)) for score, place in zip(*each, strict=True) if place >= 0]
            for each in zip(scores, places, strict=True)
        ]
        passages = self._corpus.at(row for each in hits for row, _ in each)
        return [[Retrieved(passages[row], score) for row, score in each] for each in hits]


def open_dense(
    store: IndexStore, corpus: Corpus, spec: str, *, flat_up_to: int = FLAT_UP_TO, progress: Progress = silent
) -> Dense:
    """The dense retriever of a corpus under an encoder; its index is built first if there is none.

    Raises `Refused` for an index whose vectors are not of unit length, as its scores would not be cosines.
    """
    encoder = load_encoder(spec)
    kind = "flat" if corpus.size <= flat_up_to else "ivf-pq"
    settings = {"encoder": encoder.identity, "longest": encoder.longest, "kind": kind, "format": 1}
    folder = store.ensure(
        "dense", corpus.digest, settings,
        lambda path: build(corpus, path, encoder, flat_up_to=flat_up_to, progress=progress),
    )  # fmt: skip
    return Dense(corpus, encoder, folder)


def _open_ivf(folder: Path) -> Any:
    import faiss

    index: Any = faiss.read_index(str(folder / IVF), faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY)
    index.nprobe = max(16, index.nlist // 32)
    return index


def _check_unit(vectors: Any, what: str) -> None:
    norms = np.linalg.norm(np.asarray(vectors, dtype=np.float64), axis=1)
    if len(norms) and not np.all(np.abs(norms - 1) < 1e-3):
        raise Refused(
            f"The {what}'s vectors are not of unit length, so their scores would not be cosines.",
            "Delete the index's folder and have it built again.",
        )
