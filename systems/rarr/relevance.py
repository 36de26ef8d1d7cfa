"""How well a piece of evidence fits a query: a cross-encoder, an encoder's cosine, or shared words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from core.records import Passage
from systems.records import Reranker, Retrieved

if TYPE_CHECKING:
    from systems.retrieval.analysis import Analyzer
    from systems.retrieval.encoder import Encoder

Pair = tuple[str, str, str]
"""Query, the evidence's title and its text."""


class Relevance(Protocol):
    """Scores pairs of query and evidence."""

    @property
    def signature(self) -> str:
        """Everything its scores depend on."""
        ...

    def score(self, pairs: Sequence[Pair]) -> list[float]:
        """One number per pair, larger for evidence that fits better; below 0 counts as 0 where coverage is summed."""
        ...


@dataclass(frozen=True)
class SharedWords:
    """The share of a query's different words (stems, no stopwords) that title and text hold, from 0 to 1."""

    analyzer: Analyzer

    @property
    def signature(self) -> str:
        """The analysis of text."""
        return f"relevance:shared-words|{self.analyzer.version}"

    def score(self, pairs: Sequence[Pair]) -> list[float]:
        """0 for a query without words."""
        wanted = {query: frozenset(self.analyzer.terms(query)) for query in {query for query, _, _ in pairs}}
        held = {each: frozenset(self.analyzer.terms(" ".join(each))) for each in {(t, text) for _, t, text in pairs}}
        return [len(wanted[q] & held[t, text]) / max(1, len(wanted[q])) for q, t, text in pairs]


@dataclass(frozen=True)
class Cosine:
    """The cosine of an encoder's vectors."""

    encoder: Encoder

    @property
    def signature(self) -> str:
        """The encoder."""
        return f"relevance:cosine|{self.encoder.identity}"

    def score(self, pairs: Sequence[Pair]) -> list[float]:
        """From -1 to 1."""
        queries = list(dict.fromkeys(query for query, _, _ in pairs))
        texts = list(dict.fromkeys(_titled(title, text) for _, title, text in pairs))
        asked = dict(zip(queries, self.encoder.queries(queries), strict=True))
        told = dict(zip(texts, self.encoder.passages(texts), strict=True))
        return [float(asked[query] @ told[_titled(title, text)]) for query, title, text in pairs]


@dataclass(frozen=True)
class CrossEncoded:
    """A cross-encoder's output for query and evidence read together."""

    reranker: Reranker

    @property
    def signature(self) -> str:
        """The cross-encoder."""
        return f"relevance:{self.reranker.signature}"

    def score(self, pairs: Sequence[Pair]) -> list[float]:
        """As the model gives them."""
        hits = [[Retrieved(Passage("", title, title, text), 0.0)] for _, title, text in pairs]
        found = self.reranker.rerank([query for query, _, _ in pairs], hits)
        return [each[0].score for each in found]


def _titled(title: str, text: str) -> str:
    return f"{title} {text}".strip()
