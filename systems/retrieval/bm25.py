"""BM25 over a corpus with Lucene's scoring; the index is mapped from disk, so opening one takes little memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.corpus import Corpus
from core.records import Passage
from systems.records import Retrieved
from systems.retrieval.analysis import Analyzer
from systems.retrieval.bm25_build import ROWS, build
from systems.retrieval.store import IndexStore, Progress, read_manifest, silent
from systems.retrieval.term_search import Hit, TermSearch, backend_for

K1, B = 0.9, 0.4
"""Pyserini's defaults."""
_QUERIES_AT_ONCE = 256


class Bm25:
    """A retriever by shared words."""

    def __init__(self, corpus: Corpus, search: TermSearch, rows: Any, signature: str, manifest: dict[str, Any]) -> None:
        self._corpus = corpus
        self._search = search
        self._rows = rows
        self.signature = signature
        self.manifest = manifest

    def search(self, queries: Sequence[str], k: int) -> list[list[Retrieved]]:
        """At most k hits per query, best first; ties in the corpus's order; k above the corpus's size is no fault."""
        found: list[list[Retrieved]] = []
        for start in range(0, len(queries), _QUERIES_AT_ONCE):
            found += self._with_passages(self._search.search(queries[start : start + _QUERIES_AT_ONCE], k))
        return found

    def search_within(self, query: str, rows: Sequence[int], k: int) -> list[Retrieved]:
        """As `search` for one query, among the passages at the given corpus rows only; terms weigh as in the corpus."""
        wanted = np.asarray(sorted(rows), dtype=np.int64)
        places = np.searchsorted(self._rows, wanted)
        held = places < len(self._rows)
        held[held] = self._rows[places[held]] == wanted[held]
        places = places[held]
        scores = self._search.scores(query)[places]
        order = np.lexsort((places, -scores))[:k]
        hits = [(int(places[at]), float(scores[at])) for at in order if scores[at] > 0]
        return self._with_passages([hits])[0]

    def flags(self, query: str) -> tuple[str, ...]:
        """Says if a query was cut."""
        return self._search.flags(query)

    def _with_passages(self, hits: Sequence[Sequence[Hit]]) -> list[list[Retrieved]]:
        rows = {place: int(self._rows[place]) for each in hits for place, _ in each}
        passages: dict[int, Passage] = self._corpus.at(rows.values())
        return [[Retrieved(passages[rows[place]], score) for place, score in each] for each in hits]


def open_bm25(store: IndexStore, corpus: Corpus, *, k1: float = K1, b: float = B, progress: Progress = silent) -> Bm25:
    """The BM25 retriever of a corpus; its index is built first if there is none. Texts: title, headings, text."""
    import bm25s

    analyzer = Analyzer()
    settings = {"k1": k1, "b": b, "analysis": analyzer.version, "format": 1}
    path = store.ensure(
        "bm25", corpus.digest, settings,
        lambda folder: build(corpus, folder, k1=k1, b=b, analyzer=analyzer, progress=progress),
    )  # fmt: skip
    manifest = read_manifest(path)
    size = manifest["passages"]
    index = bm25s.BM25.load(path, mmap=True, show_progress=False, backend=backend_for(size))
    search = TermSearch(index, size, analyzer)
    rows = np.load(path / ROWS, mmap_mode="r")
    return Bm25(corpus, search, rows, f"bm25:lucene,k1={k1},b={b}|{analyzer.version}", manifest)
