"""Queries against a bm25s index: terms looked up, long queries cut by weight, score 0 is no hit, ties by position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from systems.retrieval.analysis import Analyzer

NUMBA_FROM = 50_000
"""Texts from which on numba's compilation (seconds per process) is worth its speed."""
MAX_QUERY_TERMS = 512
_TIES = 16
"""Hits fetched beyond k, so that texts of equal score at the cut are chosen by their position."""

Hit = tuple[int, float]


def backend_for(size: int) -> str:
    """The bm25s backend for an index of `size` texts: numba for large ones, where it is installed."""
    from importlib.util import find_spec

    return "numba" if size >= NUMBA_FROM and find_spec("numba") is not None else "numpy"


class TermSearch:
    """Searches one bm25s index with one analyzer; hits are (position in the index, score)."""

    def __init__(self, index: Any, size: int, analyzer: Analyzer) -> None:
        self._index = index
        self._size = size
        self._analyzer = analyzer
        frequencies = np.diff(np.asarray(index.scores["indptr"]))
        self._idf = np.log1p((size - frequencies + 0.5) / (frequencies + 0.5))

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """At most k hits per query, best first; a text that shares no term with the query is none."""
        found: list[list[Hit]] = [[] for _ in queries]
        ids = {at: chosen for at, query in enumerate(queries) if (chosen := self._cut(self._ids(query))[0])}
        fetched = min(k + _TIES, self._size)
        if not ids or k < 1 or fetched < 1:
            return found
        texts, scores = self._index.retrieve(list(ids.values()), k=fetched, show_progress=False, n_threads=0)
        order = np.lexsort((texts, -scores), axis=-1)[:, :k]
        texts, scores = np.take_along_axis(texts, order, 1), np.take_along_axis(scores, order, 1)
        for at, row_texts, row_scores in zip(ids, texts.tolist(), scores.tolist(), strict=True):
            found[at] = [hit for hit in zip(row_texts, row_scores, strict=True) if hit[1] > 0]
        return found

    def scores(self, query: str) -> np.ndarray[Any, np.dtype[np.float32]]:
        """The score of every text; 0 where no term is shared."""
        ids = self._cut(self._ids(query))[0]
        if not ids:
            return np.zeros(self._size, dtype=np.float32)
        scores: np.ndarray[Any, np.dtype[np.float32]] = self._index.get_scores_from_ids(ids)
        return scores

    def flags(self, query: str) -> tuple[str, ...]:
        """Says how many terms of a query were left out, if any were."""
        left_out = self._cut(self._ids(query))[1]
        return (f"query cut to its {MAX_QUERY_TERMS} weightiest terms; {left_out} left out",) if left_out else ()

    def _ids(self, query: str) -> list[int]:
        vocabulary = self._index.vocab_dict
        return [vocabulary[term] for term in self._analyzer.terms(query) if term in vocabulary]

    def _cut(self, ids: list[int]) -> tuple[list[int], int]:
        """The ids to search with, and how many different terms were left out."""
        counts = Counter(ids)
        if len(counts) <= MAX_QUERY_TERMS:
            return ids, 0
        weightiest = sorted(counts, key=lambda term: (-counts[term] * self._idf[term], term))
        kept = set(weightiest[:MAX_QUERY_TERMS])
        return [term for term in ids if term in kept], len(counts) - len(kept)


def search_texts(texts: Sequence[str], *, k1: float = 0.9, b: float = 0.4) -> TermSearch:
    """A search over texts held in memory, such as training questions."""
    import bm25s

    analyzer = Analyzer()
    index = bm25s.BM25(k1=k1, b=b, method="lucene", backend=backend_for(len(texts)))
    index.index(analyzer.all_terms(texts) or [[]], show_progress=False)
    return TermSearch(index, len(texts), analyzer)
