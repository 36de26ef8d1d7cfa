"""BM25 and MiniLM on real questions and passages; Lucene's formula computed directly on real text.

Most pages of this corpus hold one passage, so recall is flattering; the floors below stand a little under what was
measured (docs/systems.md) and guard against a retriever that breaks, no more.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import pytest

from core import corpus as corpora
from core.corpus import Corpus
from core.text import squad_normalise
from systems.architectures.choice import holds
from systems.architectures.post_hoc import query
from systems.retrieval.analysis import Analyzer
from systems.retrieval.bm25 import Bm25, open_bm25
from systems.retrieval.dense import open_dense
from systems.retrieval.store import IndexStore
from tests.small_corpus import make_corpus

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def corpus(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("real")
    digest, size = corpora.build([shared_data / "corpus" / "passages.jsonl"], folder)
    assert size == 4_778
    return Corpus(folder / f"{digest}.sqlite")


@pytest.fixture(scope="module")
def bm25(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Bm25:
    return open_bm25(IndexStore(tmp_path_factory.mktemp("indexes")), corpus)


@pytest.fixture(scope="module")
def gold(shared_data: Path) -> dict[str, set[str]]:
    lines = (shared_data / "corpus" / "gold_passages.jsonl").read_text().splitlines()
    return {entry["question"]: set(entry["passage_ids"]) for entry in map(json.loads, lines)}


@pytest.fixture(scope="module")
def references(shared_data: Path) -> dict[str, list[str]]:
    lines = (shared_data / "nq_open" / "NQ-open.dev.jsonl").read_text().splitlines()
    return {entry["question"]: entry["answer"] for entry in map(json.loads, lines)}


def recall(retriever, gold: dict[str, set[str]], queries: dict[str, str], k: int) -> float:
    hits = retriever.search(list(queries.values()), k)
    found = (bool(gold[q] & {hit.passage.id for hit in each}) for q, each in zip(queries, hits, strict=True))
    return sum(found) / len(queries)


def test_bm25_is_lucenes_formula_on_real_text(bm25: Bm25, corpus: Corpus, gold: dict[str, set[str]]) -> None:
    analyzer, k1, b = Analyzer(), 0.9, 0.4
    texts = [(p.id, Counter(analyzer.terms(f"{p.title} {p.headings} {p.text}"))) for p in corpus.scan()]
    lengths = [sum(counts.values()) for _, counts in texts]
    mean, holding = sum(lengths) / len(texts), Counter(term for _, counts in texts for term in counts)
    for question in list(gold)[::100]:
        expected = {}
        for (identifier, counts), length in zip(texts, lengths, strict=True):
            parts = [
                times * math.log(1 + (len(texts) - holding[term] + 0.5) / (holding[term] + 0.5))
                * counts[term] / (counts[term] + k1 * (1 - b + b * length / mean))
                for term, times in Counter(analyzer.terms(question)).items() if counts[term]
            ]  # fmt: skip
            if parts:
                expected[identifier] = sum(parts)
        found = {hit.passage.id: hit.score for hit in bm25.search([question], len(texts))[0]}
        assert found.keys() == expected.keys()
        assert max(abs(found[each] - expected[each]) for each in expected) < 1e-4


@pytest.mark.parametrize(("k", "floor"), [(1, 0.74), (5, 0.89), (20, 0.94), (50, 0.96)])
def test_recall_by_question(bm25: Bm25, gold: dict[str, set[str]], k: int, floor: float) -> None:
    assert recall(bm25, gold, {question: question for question in gold}, k) >= floor


def test_recall_by_question_and_answer(bm25: Bm25, gold: dict[str, set[str]], references) -> None:
    with_answer = {question: query(question, references[question][0]) for question in gold}
    assert recall(bm25, gold, with_answer, 1) >= 0.89


def test_gold_passages_hold_their_references(corpus: Corpus, gold: dict[str, set[str]], references) -> None:
    held = [
        any(holds(p, r) for p in corpus.passages(ids).values() for r in references[question])
        for question, ids in gold.items()
    ]
    assert sum(held) / len(held) >= 0.99
    unholdable = [r for each in references.values() for r in each if not squad_normalise(r)]
    assert unholdable
    assert not any(holds(passage, r) for r in unholdable for passage in corpus.at([1, 2, 3]).values())


def test_minilm_on_a_part(corpus: Corpus, gold: dict[str, set[str]], tmp_path: Path) -> None:
    """150 questions over their own passages: a smaller haystack, so a higher recall than the whole corpus's."""
    some = dict(list(gold.items())[:150])
    passages = corpus.passages(identifier for ids in some.values() for identifier in ids).values()
    part = make_corpus(tmp_path, [(p.id, p.title, p.headings, p.text) for p in passages])
    retriever = open_dense(IndexStore(tmp_path / "indexes"), part, "minilm")
    assert recall(retriever, some, {question: question for question in some}, 1) >= 0.9
    assert retriever.manifest["truncated"] > 0
