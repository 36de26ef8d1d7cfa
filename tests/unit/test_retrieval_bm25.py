"""BM25: Lucene's formula written out, no hit is no hit, ties, cuts, and index files that survive a stop."""

from __future__ import annotations

import errno
import math
import os
import random
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from core.corpus import Corpus
from core.errors import Unavailable
from systems.retrieval import bm25_build, term_search
from systems.retrieval.analysis import Analyzer
from systems.retrieval.bm25 import open_bm25
from systems.retrieval.store import IndexStore
from tests.small_corpus import ROWS, make_corpus

WORDS = ["river", "king", "battle", "city", "goal", "1990", "opera", "moon", "treaty", "engine", "the", "of", "island"]


def random_rows(size: int, seed: int = 0) -> list[tuple[str, str, str, str]]:
    draw = random.Random(seed)
    return [
        (f"p{at}", f"T{at % 7}", f"T{at % 7}", " ".join(draw.choices(WORDS, k=draw.randint(1, 40))))
        for at in range(size)
    ]


def lucene(corpus: Corpus, query: str, k1: float, b: float) -> dict[str, float]:
    """Lucene's BM25Similarity (8 and later: without the constant k1 + 1), with exact lengths."""
    analyzer = Analyzer()
    texts = {p.id: Counter(analyzer.terms(f"{p.title} {p.headings} {p.text}")) for p in corpus.scan() if p.text.strip()}
    mean = sum(sum(t.values()) for t in texts.values()) / len(texts)
    scores: dict[str, float] = {}
    for term, times in Counter(analyzer.terms(query)).items():
        holding = sum(term in counts for counts in texts.values())
        idf = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
        for identifier, counts in texts.items():
            if tf := counts[term]:
                norm = k1 * (1 - b + b * sum(counts.values()) / mean)
                scores[identifier] = scores.get(identifier, 0.0) + times * idf * tf / (tf + norm)
    return scores


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.2, 0.75), (0.0, 0.0)])
def test_scores_are_lucenes(tmp_path: Path, k1: float, b: float) -> None:
    corpus = make_corpus(tmp_path, random_rows(300))
    retriever = open_bm25(IndexStore(tmp_path / "indexes"), corpus, k1=k1, b=b)
    for query in ("the battle of the river king", "moon moon engine 1990", "T3 opera"):
        expected = lucene(corpus, query, k1, b)
        found = {hit.passage.id: hit.score for hit in retriever.search([query], 300)[0]}
        assert found.keys() == expected.keys()
        assert all(found[each] == pytest.approx(expected[each], abs=1e-4) for each in expected)


def test_index_is_bm25s_own(tmp_path: Path) -> None:
    """The streamed build writes what bm25s's in-memory builder computes."""
    import bm25s

    corpus = make_corpus(tmp_path, random_rows(200))
    store, analyzer = IndexStore(tmp_path / "indexes"), Analyzer()
    open_bm25(store, corpus)
    texts = [f"{p.title} {p.headings} {p.text}" for p in corpus.scan()]
    theirs = bm25s.BM25(k1=0.9, b=0.4, method="lucene")
    theirs.index(analyzer.all_terms(texts), show_progress=False)
    ours = bm25s.BM25.load(next((tmp_path / "indexes").glob("bm25-*[!k]")), mmap=True)
    for term in set(ours.vocab_dict):
        np.testing.assert_allclose(ours.get_scores([term]), theirs.get_scores([term]), atol=1e-6)


def test_no_hit_is_no_hit(tmp_path: Path) -> None:
    retriever = open_bm25(IndexStore(tmp_path / "indexes"), make_corpus(tmp_path))
    assert retriever.search(["xyzzy plugh", "", "the of and", "oslo"], 10)[:3] == [[], [], []]
    assert retriever.search([], 10) == []
    assert retriever.search(["oslo"], 0) == [[]]
    assert [hit.passage.title for hit in retriever.search(["oslo"], 10)[0]] == ["Oslo", "Oslo"]


def test_more_asked_than_there_is(tmp_path: Path) -> None:
    retriever = open_bm25(IndexStore(tmp_path / "indexes"), make_corpus(tmp_path))
    everything = retriever.search(["oslo rome nile city brazil"], 1000)[0]
    assert len(everything) == len(ROWS) - 1
    assert [hit.score for hit in everything] == sorted((hit.score for hit in everything), reverse=True)


def test_empty_passages_are_left_out_and_counted(tmp_path: Path) -> None:
    retriever = open_bm25(IndexStore(tmp_path / "indexes"), make_corpus(tmp_path))
    assert retriever.manifest["empty_passages_left_out"] == 1
    assert retriever.search(["empty"], 5) == [[]]


def test_a_corpus_of_stopwords(tmp_path: Path) -> None:
    rows = [("a", "The", "The", "of the and"), ("b", "Of", "Of", "to be")]
    retriever = open_bm25(IndexStore(tmp_path / "indexes"), make_corpus(tmp_path, rows))
    assert retriever.search(["the of", "oslo"], 5) == [[], []]


def test_ties_stand_in_the_corpus_order(tmp_path: Path) -> None:
    rows = [(f"p{at}", "Title", "Title", "the very same text of a battle") for at in range(12)]
    retriever = open_bm25(IndexStore(tmp_path / "indexes"), make_corpus(tmp_path, rows))
    assert [hit.passage.id for hit in retriever.search(["battle"], 4)[0]] == ["p0", "p1", "p2", "p3"]


def test_a_long_query_is_cut_by_weight_and_flagged(tmp_path: Path) -> None:
    words = [f"word{at}" for at in range(2_000)]
    rows = [(f"p{at}", "T", "T", " ".join(words[: 2_000 - 4 * at])) for at in range(400)]
    corpus = make_corpus(tmp_path, rows)
    retriever = open_bm25(IndexStore(tmp_path / "indexes"), corpus)
    query = " ".join(words)
    assert retriever.flags(query) == ("query cut to its 512 weightiest terms; 1488 left out",)
    assert retriever.flags("word1 word2") == ()
    best = retriever.search([query], 1)[0][0]
    of_the_rarest = lucene(corpus, " ".join(words[-512:]), 0.9, 0.4)
    assert best.passage.id == "p0"
    assert best.score == pytest.approx(of_the_rarest["p0"], rel=1e-5)


def test_numba_finds_what_numpy_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, store = make_corpus(tmp_path, random_rows(300)), IndexStore(tmp_path / "indexes")
    queries = ["battle of the river", "", "moon opera engine", "xyzzy", "1990"]
    plain = open_bm25(store, corpus).search(queries, 20)
    monkeypatch.setattr(term_search, "NUMBA_FROM", 1)
    assert term_search.backend_for(300) == "numba"
    fast = open_bm25(store, corpus).search(queries, 20)
    for ours, theirs in zip(fast, plain, strict=True):
        assert [hit.passage.id for hit in ours] == [hit.passage.id for hit in theirs]
        assert [hit.score for hit in ours] == pytest.approx([hit.score for hit in theirs])


def test_a_stopped_build_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, analyzer = make_corpus(tmp_path, random_rows(250)), Analyzer()
    whole = tmp_path / "whole"
    whole.mkdir()
    bm25_build.build(corpus, whole, k1=0.9, b=0.4, analyzer=analyzer)
    read: list[int] = []

    def stop(done: int, total: int) -> None:
        if done >= 120:
            raise KeyboardInterrupt

    part = tmp_path / "part"
    part.mkdir()
    with pytest.raises(KeyboardInterrupt):
        bm25_build.build(corpus, part, k1=0.9, b=0.4, analyzer=analyzer, progress=stop, chunk=40)
    assert len(list(part.glob("chunk-*.npz"))) == 3
    scan = corpus.scan_rows
    monkeypatch.setattr(corpus, "scan_rows", lambda after=0: (read.append(after), scan(after))[1])
    counts = bm25_build.build(corpus, part, k1=0.9, b=0.4, analyzer=analyzer, chunk=40)
    assert read == [120]
    assert counts["passages"] == 250
    for name in ("data.csc.index.npy", "indices.csc.index.npy", "indptr.csc.index.npy", "vocab.index.json", "rows.npy"):
        assert (part / name).read_bytes() == (whole / name).read_bytes()


def test_an_index_is_built_once_and_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, store, built = make_corpus(tmp_path, random_rows(60)), IndexStore(tmp_path / "indexes"), []
    real = bm25_build.build
    monkeypatch.setattr("systems.retrieval.bm25.build", lambda *a, **k: (built.append(1), real(*a, **k))[1])
    threads = [threading.Thread(target=open_bm25, args=(store, corpus)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    retriever = open_bm25(store, corpus)
    assert built == [1]
    assert isinstance(retriever._search._index.scores["data"], np.memmap)
    open_bm25(store, corpus, k1=1.5)
    assert built == [1, 1]
    assert len([path for path in store.folder.iterdir() if path.is_dir()]) == 2


def test_search_within_some_passages(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path)
    retriever = open_bm25(IndexStore(tmp_path / "indexes"), corpus)
    rows = [row for row, passage in corpus.scan_rows() if passage.title in ("Oslo", "Empty")]
    hits = retriever.search_within("what was the city named, capital of italy", [*rows, 10_000], 5)
    assert [hit.passage.headings for hit in hits] == ["Oslo, History", "Oslo"]
    assert retriever.search_within("italy", rows, 5) == []


def test_a_full_disk_is_told_and_the_build_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, store = make_corpus(tmp_path, random_rows(50)), IndexStore(tmp_path / "indexes")

    def full(*_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "posix_fallocate", full)
        with pytest.raises(Unavailable, match="its disk is full") as caught:
            open_bm25(store, corpus)
    assert "Make room" in caught.value.hint
    assert open_bm25(store, corpus).search(["river"], 3)[0]


def test_where_no_index_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "indexes").write_text("a file")
    with pytest.raises(Unavailable, match="could not be written"):
        open_bm25(IndexStore(tmp_path / "indexes"), make_corpus(tmp_path))


@pytest.mark.parametrize("text", ["Oslo is a city.", "", "the of and"])
def test_a_corpus_of_one_passage(tmp_path: Path, text: str) -> None:
    retriever = open_bm25(IndexStore(tmp_path / "indexes"), make_corpus(tmp_path, [("only", "T", "T", text)]))
    assert [len(hits) for hits in retriever.search(["oslo city", "nothing", ""], 50)] == [bool("Oslo" in text), 0, 0]
    assert retriever.search(["oslo " * 2_000], 50)[0][:1] == retriever.search(["oslo " * 2_000], 1)[0]
