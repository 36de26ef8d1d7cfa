"""Where evidence is looked for: the benchmark's corpus by any retriever, or a search service by HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from core.errors import InvalidInput, Unavailable
from systems.llm.stopping import storable
from systems.rarr.records import Document

if TYPE_CHECKING:
    import httpx

    from systems.records import Retriever

_TIMEOUT, _TRIES, _AT_ONCE = 30.0, 3, 4


class Search(Protocol):
    """Anything that finds documents."""

    @property
    def signature(self) -> str:
        """Everything its results depend on."""
        ...

    def search(self, queries: Sequence[str]) -> list[list[Document]]:
        """For each query its documents, best first; none is an empty list."""
        ...


@dataclass(frozen=True)
class CorpusSearch:
    """The first `k` passages of a corpus."""

    retriever: Retriever
    k: int

    @property
    def signature(self) -> str:
        """The retriever's, and how many."""
        return f"{self.retriever.signature}|k={self.k}"

    def search(self, queries: Sequence[str]) -> list[list[Document]]:
        """The passages, with their corpus ids as sources."""
        hits = self.retriever.search(list(queries), self.k)
        return [[Document(h.passage.id, h.passage.title, h.passage.text) for h in each] for each in hits]


@dataclass(frozen=True)
class HttpSearch:
    """A search service that answers `GET ADDRESS` with `{"results": [{"url", "title", "content"}]}`, as SearXNG does.

    `{query}` in the address stands for the query. Results differ from day to day: a run keeps what it was given.
    """

    address: str
    k: int
    pause: Callable[[float], None] = time.sleep

    @property
    def signature(self) -> str:
        """The address, and how many results are read."""
        return f"search:{self.address}|k={self.k}"

    def search(self, queries: Sequence[str]) -> list[list[Document]]:
        """The first results of each query. Raises `Unavailable` where the service fails three times."""
        import httpx

        from systems.bounded_answers import bounds

        with (
            httpx.Client(timeout=_TIMEOUT, **bounds(httpx, seconds=_TIMEOUT)) as client,
            ThreadPoolExecutor(_AT_ONCE) as pool,
        ):
            return list(pool.map(lambda query: self._one(client, query), queries))

    def _one(self, client: httpx.Client, query: str) -> list[Document]:
        import httpx

        problem = ""
        for attempt in range(_TRIES):
            if attempt:
                self.pause(2.0**attempt)
            try:
                answer = json.loads(self._read(client, query))
                return [_document(each) for each in answer["results"][: self.k]]
            except (httpx.HTTPError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                problem = f"{type(error).__name__}: {error}"
        raise Unavailable(
            f"The search service gave no results: {problem}", 'It should answer {"results": [{"url", "content"}]}.'
        )

    def _read(self, client: httpx.Client, query: str) -> bytes:
        got = client.get(self.address.replace("{query}", quote(query, safe="", errors="replace")))
        return got.raise_for_status().content


def open_http_search(address: str, k: int) -> HttpSearch:
    """The search service at an address. Raises `InvalidInput` for one without `{query}`."""
    if "{query}" not in address or not address.startswith(("http://", "https://")):
        raise InvalidInput(
            f"{address!r} is no search address.", "Write http://HOST/search?q={query}&format=json, or leave it out."
        )
    return HttpSearch(address, k)


def _document(result: dict[str, Any]) -> Document:
    parts = (result["url"], result.get("title") or "", result.get("content") or "")
    return Document(*(storable(str(part)) for part in parts))
