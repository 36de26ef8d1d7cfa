"""From a page's address to the passages of that page in the corpus."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.corpus import Corpus
from core.records import Passage
from core.text import canonical_attribution, hash_key
from systems.retrieval.store import IndexStore, Progress, silent

_WIKIPEDIA = re.compile(r"^(?:www\.)?([a-z-]+)(?:\.m)?\.wikipedia\.org/(?:wiki/|w/index\.php\?title=)(.*)$", re.I)
_STEP = 10_000


def canonical_page(address: str) -> str:
    """One form for all spellings of a page's address: no scheme, fragment or query, decoded once, spaces folded.

    Wikipedia's mobile host counts as the main one, its titles start with a capital, and a bare title is taken for
    one of the English Wikipedia.
    """
    bare = re.sub(r"^\s*(?:https?:)?//", "", address.strip(), flags=re.I).split("#")[0].rstrip("/")
    if "/" not in bare and "." not in bare:
        bare = f"en.wikipedia.org/wiki/{bare}"
    match = _WIKIPEDIA.match(bare)
    if match is None:
        return canonical_attribution(bare.split("?")[0])
    ends = r"&" if "index.php" in bare else r"\?(?=\w+=)"  # a title may hold a question mark
    title = " ".join(canonical_attribution(re.split(ends, match[2])[0]).split())
    return f"{match[1].lower()}.wikipedia.org/wiki/{title[:1].upper()}{title[1:]}"


class Pages:
    """Looks pages up in arrays mapped from disk."""

    def __init__(self, corpus: Corpus, keys: Any, rows: Any) -> None:
        self._corpus = corpus
        self._keys = keys
        self._rows = rows

    def rows(self, address: str) -> list[int]:
        """The corpus rows of the page's passages in their order; empty if the page is not in the corpus."""
        page = canonical_page(address)
        start, end = (int(np.searchsorted(self._keys, _key(page), side)) for side in ("left", "right"))
        passages = self._corpus.at(int(row) for row in self._rows[start:end])
        return sorted(row for row, passage in passages.items() if canonical_page(passage.id) == page)

    def first(self, rows: Sequence[int]) -> Passage:
        """The first of some rows' passages."""
        return self._corpus.at([rows[0]])[rows[0]]


def open_pages(store: IndexStore, corpus: Corpus, progress: Progress = silent) -> Pages:
    """The pages of a corpus; their index is built first if there is none."""
    path = store.ensure("pages", corpus.digest, {"format": 1}, lambda folder: _build(corpus, folder, progress))
    return Pages(corpus, np.load(path / "keys.npy", mmap_mode="r"), np.load(path / "rows.npy", mmap_mode="r"))


def _build(corpus: Corpus, folder: Path, progress: Progress) -> dict[str, Any]:
    keys, rows = np.empty(corpus.size, np.int64), np.empty(corpus.size, np.int64)
    for at, (row, passage) in enumerate(corpus.scan_rows()):
        keys[at], rows[at] = _key(canonical_page(passage.id)), row
        if at % _STEP == 0:
            progress(at, corpus.size)
    order = np.argsort(keys, kind="stable")
    np.save(folder / "keys.npy", keys[order])
    np.save(folder / "rows.npy", rows[order])
    return {"passages": corpus.size, "pages": len(np.unique(keys))}


def _key(page: str) -> int:
    return int.from_bytes(hash_key(page, size=8), "little", signed=True)
