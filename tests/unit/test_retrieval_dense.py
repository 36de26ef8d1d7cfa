"""Dense retrieval over a stand-in encoder and the packaged MiniLM: cuts, unit length, resuming, IVF-PQ."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from core.errors import InvalidInput, Refused
from core.text import hash_key
from systems.records import Retrieved
from systems.retrieval import dense, dense_build
from systems.retrieval.dense import Dense, open_dense
from systems.retrieval.encoder import load_encoder
from systems.retrieval.rerank import load_cross_encoder
from systems.retrieval.store import IndexStore
from tests.small_corpus import ROWS, make_corpus


class HashEncoder:
    """A text's vector is the sum of its words' random ones, so texts with words in common are near; reads 12 words."""

    identity, longest, width = "hash@1", 12, 16

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def passages(self, texts):
        self.encoded += texts
        return self.queries(texts)

    def queries(self, texts):
        vectors = np.array([self._sum(text) for text in texts], dtype=np.float32).reshape(len(texts), self.width)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def truncated(self, texts):
        return [len(text.split()) > self.longest for text in texts]

    def _sum(self, text):
        seeds = (int.from_bytes(hash_key(word.strip(".").lower(), size=4), "little") for word in text.split())
        return sum(np.random.default_rng(seed).standard_normal(self.width) for seed in seeds)


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> HashEncoder:
    made = HashEncoder()
    monkeypatch.setattr(dense, "load_encoder", lambda spec: made)
    return made


def test_all_passages_by_cosine_and_none_for_no_words(tmp_path: Path, encoder: HashEncoder) -> None:
    retriever = open_dense(IndexStore(tmp_path / "indexes"), make_corpus(tmp_path), "hash")
    hits, none = retriever.search(["rome is the capital of italy", "  "], 1_000)
    assert none == []
    assert len(hits) == len(ROWS) - 1
    assert hits[0].passage.title == "Rome"
    vector = encoder.queries(["rome is the capital of italy"])[0]
    for hit in hits:
        assert hit.score == pytest.approx(
            float(encoder.queries([dense_build.text_of(hit.passage)])[0] @ vector), abs=1e-5
        )
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert retriever.search([], 5) == []
    assert retriever.search(["rome"], 0) == [[]]


def test_what_the_encoder_cuts_is_counted(tmp_path: Path, encoder: HashEncoder) -> None:
    rows = [*ROWS, ("long", "Long", "Long", "word " * 40)]
    retriever = open_dense(IndexStore(tmp_path / "indexes"), make_corpus(tmp_path, rows), "hash")
    told = retriever.manifest
    assert (told["truncated"], told["empty_passages_left_out"], told["longest"]) == (1, 1, 12)
    assert retriever.flags("word " * 40) == ("query cut by the encoder to 12 tokens",)
    assert retriever.flags("word") == ()


def test_an_index_that_is_not_normalised_is_refused(tmp_path: Path, encoder: HashEncoder) -> None:
    corpus, store = make_corpus(tmp_path), IndexStore(tmp_path / "indexes")
    open_dense(store, corpus, "hash")
    path = next(store.folder.glob("dense-*/vectors.npy"))
    np.save(path, np.load(path) * 3)
    with pytest.raises(Refused, match="unit length"):
        open_dense(store, corpus, "hash")


def test_a_query_that_is_not_normalised_is_refused(tmp_path: Path, encoder: HashEncoder, monkeypatch) -> None:
    retriever = open_dense(IndexStore(tmp_path / "indexes"), make_corpus(tmp_path), "hash")
    monkeypatch.setattr(encoder, "queries", lambda texts: np.full((len(texts), 16), 2.0, np.float32))
    with pytest.raises(Refused, match="unit length"):
        retriever.search(["rome"], 1)


def test_a_stopped_build_encodes_only_what_is_left(tmp_path: Path) -> None:
    rows = [(f"p{at}", f"T{at}", f"T{at}", "" if at == 7 else f"text number {at}") for at in range(50)]
    corpus, first, second = make_corpus(tmp_path, rows), HashEncoder(), HashEncoder()

    def stop(done: int, total: int) -> None:
        if done >= 20:
            raise KeyboardInterrupt

    folder = tmp_path / "index"
    folder.mkdir()
    with pytest.raises(KeyboardInterrupt):
        dense_build.build(corpus, folder, first, progress=stop, piece=10)
    told = dense_build.build(corpus, folder, second, piece=10)
    assert (len(first.encoded), len(second.encoded), told["passages"]) == (20, 29, 49)
    whole = tmp_path / "whole"
    whole.mkdir()
    dense_build.build(corpus, whole, HashEncoder())
    np.testing.assert_array_equal(np.load(folder / "vectors.npy"), np.load(whole / "vectors.npy"))
    np.testing.assert_array_equal(np.load(folder / "rows.npy"), np.load(whole / "rows.npy"))


def test_ivf_pq_finds_nearly_what_flat_finds(tmp_path: Path, encoder: HashEncoder) -> None:
    draw = random.Random(0)
    words = [f"word{at}" for at in range(300)]
    rows = [(f"p{at}", f"T{at}", f"T{at}", " ".join(draw.choices(words, k=8))) for at in range(3_000)]
    corpus, store = make_corpus(tmp_path, rows), IndexStore(tmp_path / "indexes")
    flat, narrowed = open_dense(store, corpus, "hash"), open_dense(store, corpus, "hash", flat_up_to=100)
    assert (flat.manifest["kind"], narrowed.manifest["kind"]) == ("flat", "IVF219,PQ4")
    queries = [" ".join(draw.choices(words, k=4)) for _ in range(50)]
    exact, found = flat.search(queries, 10), narrowed.search(queries, 10)
    shared = [
        len({hit.passage.id for hit in theirs} & {hit.passage.id for hit in ours})
        for theirs, ours in zip(exact, found, strict=True)
    ]
    assert sum(shared) / 500 > 0.5
    by_id = {hit.passage.id: hit.score for hit in flat.search(queries[:1], 3_000)[0]}
    assert all(hit.score == pytest.approx(by_id[hit.passage.id], abs=1e-5) for hit in found[0])
    assert len(narrowed.search(queries[:1], 3_000)[0]) <= 3_000


def test_the_packaged_minilm(tmp_path: Path) -> None:
    retriever = open_dense(IndexStore(tmp_path / "indexes"), make_corpus(tmp_path), "minilm")
    assert isinstance(retriever, Dense)
    assert retriever.search(["which waterway crosses egypt"], 1)[0][0].passage.title == "Nile"
    assert retriever.manifest["longest"] == 256
    assert retriever.signature.startswith("dense:minilm@")
    encoder = load_encoder("minilm")
    assert encoder.truncated(["word " * 300, "word"]) == [True, False]
    one, batch = encoder.passages(["a river in Africa"]), encoder.passages(["a river in Africa", "word " * 100])
    np.testing.assert_allclose(one[0], batch[0], atol=1e-5)


def test_a_cross_encoder_orders_hits(tmp_path: Path) -> None:
    """A tiny random model: what counts is that hits are kept, ordered by its own scores, and ties keep their order."""
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    folder = tmp_path / "model"
    size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    letters = "abcdefghijklmnopqrstuvwxyz"
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    config = BertConfig(vocab_size=len(vocabulary), num_labels=1, **size)
    BertForSequenceClassification(config).save_pretrained(folder)
    corpus = make_corpus(tmp_path)
    hits = [Retrieved(passage, 0.0) for passage in corpus.scan()]
    reranker = load_cross_encoder(str(folder))
    first, none, twice = reranker.rerank(["oslo", "rome", "nile"], [hits, [], [hits[0], hits[0]]])
    assert none == []
    assert {hit.passage.id for hit in first} == {hit.passage.id for hit in hits}
    assert [hit.score for hit in first] == sorted((hit.score for hit in first), reverse=True)
    assert len(twice) == 2
    assert reranker.signature.startswith("rerank:local@")
    BertForSequenceClassification(BertConfig(vocab_size=len(vocabulary), num_labels=3, **size)).save_pretrained(folder)
    with pytest.raises(InvalidInput, match="3 outputs"):
        load_cross_encoder(str(folder))
