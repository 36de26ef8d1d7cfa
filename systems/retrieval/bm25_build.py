"""Builds a BM25 index in bm25s's file format from a stream of texts, in bounded memory and in steps that are kept.

bm25s's own builder holds all texts as lists of numbers and starts anew when stopped.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from core.corpus import Corpus
from core.records import Passage
from systems.retrieval.analysis import Analyzer
from systems.retrieval.store import Progress, reserve, silent, write_json

_CHUNK = 50_000
ROWS = "rows.npy"


def contents(passage: Passage) -> str:
    """What is indexed of a passage: title, headings and text, as they stand in the corpus file's `contents`."""
    return f"{passage.title} {passage.headings} {passage.text}"


def build(
    corpus: Corpus,
    folder: Path,
    *,
    k1: float,
    b: float,
    analyzer: Analyzer,
    progress: Progress = silent,
    chunk: int = _CHUNK,
) -> dict[str, Any]:
    """Fill `folder`; a folder that holds chunks of an earlier, stopped build is gone on with.

    Passages without text are left out. Returns the counts to tell of the index.
    """
    paths, vocabulary, dropped, last = _kept(folder)
    ids = _Ids(analyzer, vocabulary)
    stream = corpus.scan_rows(after=last)
    while some := list(itertools.islice(stream, chunk)):
        filled = [(row, passage) for row, passage in some if passage.text.strip()]
        dropped += len(some) - len(filled)
        path = folder / f"chunk-{len(paths):05}.npz"
        _write_chunk(path, filled, ids, (dropped, some[-1][0]))
        paths.append(path)
        progress(min(len(paths) * chunk, corpus.size), corpus.size)
    counts = _assemble(paths, folder, len(vocabulary), k1=k1, b=b)
    write_json(folder / "vocab.index.json", vocabulary)
    write_json(folder / "params.index.json", _parameters(k1, b, counts["passages"]))
    for path in paths:
        path.unlink()
    return counts | {"empty_passages_left_out": dropped, "terms": len(vocabulary)}


class _Ids(dict[str, int]):
    """Word → number of its term in the vocabulary, -1 for a stopword; new terms get the next numbers."""

    def __init__(self, analyzer: Analyzer, vocabulary: dict[str, int]) -> None:
        super().__init__()
        self.analyzer = analyzer
        self.vocabulary = vocabulary

    def __missing__(self, word: str) -> int:
        term = self.analyzer.term(word)
        self[word] = number = self.vocabulary.setdefault(term, len(self.vocabulary)) if term else -1
        return number

    def of(self, text: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The term numbers of a text."""
        words = self.analyzer.words(text)
        numbers = np.fromiter(map(self.__getitem__, words), np.int64, len(words))
        return numbers[numbers >= 0]


def _write_chunk(path: Path, some: list[tuple[int, Passage]], ids: _Ids, told: tuple[int, int]) -> None:
    """Postings sorted by term, then text; `told` is the passages left out so far and the last row read."""
    before = len(ids.vocabulary)
    texts = [ids.of(contents(passage)) for _, passage in some]
    lengths = np.array([len(text) for text in texts], dtype=np.int32)
    flat, places = np.concatenate([*texts, np.empty(0, np.int64)]), np.repeat(np.arange(len(some)), lengths)
    keys, frequencies = np.unique(flat * max(len(some), 1) + places, return_counts=True)
    terms, local = np.divmod(keys, max(len(some), 1))
    new = orjson.dumps(list(itertools.islice(ids.vocabulary, before, None)))
    partial = path.with_suffix(".writing")
    with partial.open("wb") as file:
        np.savez(
            file, rows=np.array([row for row, _ in some], dtype=np.int64), lengths=lengths,
            terms=terms.astype(np.int32), texts=local.astype(np.int32), frequencies=frequencies.astype(np.int32),
            new=np.frombuffer(new, dtype=np.uint8), told=np.array(told, dtype=np.int64),
        )  # fmt: skip
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)


def _kept(folder: Path) -> tuple[list[Path], dict[str, int], int, int]:
    """What an earlier build left: its chunks, their vocabulary, passages left out and the last row read."""
    paths, vocabulary, dropped, last = sorted(folder.glob("chunk-*.npz")), dict[str, int](), 0, 0
    for path in paths:
        with np.load(path) as held:
            for term in orjson.loads(held["new"].tobytes()):
                vocabulary[term] = len(vocabulary)
            dropped, last = (int(number) for number in held["told"])
    return paths, vocabulary, dropped, last


def _assemble(paths: list[Path], folder: Path, terms: int, *, k1: float, b: float) -> dict[str, Any]:
    """Write the arrays that bm25s maps: per term the texts that hold it, and each one's ready score."""
    rows, lengths, frequencies = [], [], np.zeros(terms, dtype=np.int64)
    for held in _chunks(paths):
        rows.append(held("rows"))
        lengths.append(held("lengths"))
        frequencies += np.bincount(held("terms"), minlength=terms)
    all_rows = np.concatenate([*rows, np.empty(0, np.int64)])
    size, words = len(all_rows), int(sum(part.sum(dtype=np.int64) for part in lengths))
    mean = words / size if size and words else 1.0
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(frequencies)])
    idf = np.log1p((size - frequencies + 0.5) / (frequencies + 0.5))
    data = _array(folder / "data.csc.index.npy", np.float32, int(starts[-1]))
    indices = _array(folder / "indices.csc.index.npy", np.int32, int(starts[-1]))
    heads, base = starts[:-1].copy(), 0
    for held, length in zip(_chunks(paths), lengths, strict=True):
        term, text, frequency = held("terms"), held("texts"), held("frequencies")
        there, first, count = np.unique(term, return_index=True, return_counts=True)
        places = np.repeat(heads[there] - first, count) + np.arange(len(term))
        data[places] = idf[term] * frequency / (k1 * (1 - b + b * length[text] / mean) + frequency)
        indices[places] = text + base
        heads[there] += count
        base += len(length)
    data.flush()
    indices.flush()
    np.save(folder / "indptr.csc.index.npy", starts)
    np.save(folder / ROWS, all_rows)
    return {"passages": size, "postings": int(starts[-1]), "mean_terms": mean}


def _chunks(paths: list[Path]) -> Iterator[Callable[[str], Any]]:
    for path in paths:
        with np.load(path) as held:
            yield held.__getitem__


def _array(path: Path, kind: Any, length: int) -> Any:
    """A mapped array to be filled; one spare element where there is nothing, since nothing cannot be mapped."""
    array = np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=(max(length, 1),))
    reserve(path)
    return array


def _parameters(k1: float, b: float, size: int) -> dict[str, Any]:
    import bm25s

    return {
        "k1": k1, "b": b, "delta": 0.5, "method": "lucene", "idf_method": "lucene", "dtype": "float32",
        "int_dtype": "int32", "num_docs": size, "version": bm25s.__version__, "backend": "numpy",
    }  # fmt: skip
