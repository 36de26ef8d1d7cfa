"""Builds a dense index: vectors in one mapped array, kept piece by piece, and IVF-PQ over them for large corpora."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from core.corpus import Corpus
from core.records import Passage
from systems.retrieval.encoder import Encoder
from systems.retrieval.store import Progress, reserve, silent, write_json

ROWS, VECTORS, IVF = "rows.npy", "vectors.npy", "ivf.faiss"
FLAT_UP_TO = 1_000_000
"""Passages up to which every vector is compared; above, IVF-PQ narrows the search."""
_PIECE = 1_024
_TRAINED_PER_CELL = 64


def text_of(passage: Passage) -> str:
    """What is encoded of a passage: its headings, title first, and its text."""
    return f"{passage.headings}. {passage.text}"


def build(
    corpus: Corpus,
    folder: Path,
    encoder: Encoder,
    *,
    flat_up_to: int = FLAT_UP_TO,
    progress: Progress = silent,
    piece: int = _PIECE,
) -> dict[str, Any]:
    """Fill `folder`; pieces that an earlier, stopped build encoded are not encoded again. Returns what to tell."""
    rows = _rows(corpus, folder)
    vectors = _open(folder / VECTORS, (len(rows), encoder.width))
    kept = folder / "kept.json"
    state = orjson.loads(kept.read_bytes()) if kept.is_file() else {"encoded": 0, "truncated": 0}
    last = int(rows[state["encoded"] - 1]) if state["encoded"] else 0
    passages = _filled(corpus, last)
    while some := list(islice(passages, piece)):
        texts = [text_of(passage) for passage in some]
        start = state["encoded"]
        vectors[start : start + len(some)] = encoder.passages(texts)
        vectors.flush()
        state = {"encoded": start + len(some), "truncated": state["truncated"] + sum(encoder.truncated(texts))}
        write_json(kept, state)
        progress(state["encoded"], len(rows))
    kind = "flat" if len(rows) <= flat_up_to else _ivf(folder, vectors)
    return {
        "passages": len(rows), "empty_passages_left_out": corpus.size - len(rows), "truncated": state["truncated"],
        "longest": encoder.longest, "width": encoder.width, "normalised": True, "kind": kind,
    }  # fmt: skip


def _rows(corpus: Corpus, folder: Path) -> Any:
    path = folder / ROWS
    if not path.is_file():
        rows = np.fromiter((row for row, passage in corpus.scan_rows() if passage.text.strip()), np.int64)
        partial = path.with_suffix(".writing.npy")
        np.save(partial, rows)
        partial.replace(path)
    return np.load(path, mmap_mode="r")


def _filled(corpus: Corpus, after: int) -> Iterator[Passage]:
    return (passage for _, passage in corpus.scan_rows(after=after) if passage.text.strip())


def _open(path: Path, shape: tuple[int, int]) -> Any:
    """The array to be filled, there whole or not at all."""
    if not path.is_file():
        partial = path.with_suffix(".writing.npy")
        np.lib.format.open_memmap(partial, mode="w+", dtype=np.float32, shape=(max(shape[0], 1), shape[1]))
        reserve(partial)
        partial.replace(path)
    return np.lib.format.open_memmap(path, mode="r+")


def _ivf(folder: Path, vectors: Any) -> str:
    """Train and write IVF-PQ over the vectors; the seed is faiss's own fixed one."""
    import faiss

    size, width = vectors.shape
    cells = max(1, int(4 * np.sqrt(size)))
    parts = next(parts for parts in (64, 48, 32, 24, 16, 8, 4, 2, 1) if width % parts == 0 and width // parts >= 4)
    kind = f"IVF{cells},PQ{parts}"
    index = faiss.index_factory(width, kind, faiss.METRIC_INNER_PRODUCT)
    sample = np.sort(np.random.default_rng(0).permutation(size)[: max(_TRAINED_PER_CELL * cells, 10_000)])
    index.train(np.ascontiguousarray(vectors[sample]))
    for start in range(0, size, 100_000):
        index.add(np.ascontiguousarray(vectors[start : start + 100_000]))
    faiss.write_index(index, str(folder / IVF))
    return kind
