"""The bounds of an edit, the choice of a report, the scores and the windows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from core.records import Passage
from systems.rarr import coverage
from systems.rarr.coverage import chosen
from systems.rarr.records import Document
from systems.rarr.relevance import Cosine, CrossEncoded, SharedWords
from systems.rarr.revision import too_large
from systems.rarr.windows import LONGEST_WINDOW, windows
from systems.records import Retrieved
from systems.retrieval.analysis import Analyzer
from tests.scripted_editing import StepLLM, edited, rarr


@pytest.mark.parametrize(
    ("length", "distance", "rejected"),
    [
        *[(200, 50, False), (200, 51, True), (100, 50, False), (99, 49, False), (99, 50, True), (10, 5, False)],
        *[(10, 6, True), (11, 5, False), (11, 6, True), (100, 51, True), (1, 1, True), (1, 0, False)],
    ],
)
def test_exactly_fifty_and_exactly_half_are_accepted(length: int, distance: int, rejected: bool) -> None:
    assert too_large("x" * length, distance) is rejected


def through(text: str, *revisions: str) -> list[dict]:
    """The edit steps of a passage about the Danube whose edits are scripted."""
    replies = iter(revisions)
    questions = "".join(f" Is the Danube number {n}?\n-" for n in range(len(revisions)))
    llm = StepLLM({
        "questions": questions, "agreement": " a\nEvidence says: b\nVerdict: disagrees\n\n",
        "edit": lambda prompt: f" part\nCorrected text: {next(replies)}\n\n",
    })  # fmt: skip
    return [step for step in edited(rarr(llm), text).log.steps if step["step"] == "edit"]


def test_the_bounds_hold_character_by_character_in_the_pipeline() -> None:
    text = "d" * 200
    steps = through(text, "d" * 150, "d" * 99)
    assert [(step["distance"], step["decision"]) for step in steps] == [(50, "accepted"), (51, "rejected")]
    assert steps[1]["after"] == "d" * 150


def test_distance_is_from_the_text_as_it_is_and_half_is_of_the_original() -> None:
    """From 20 to 10 to 0..: each edit is measured from the current text; half stays 10, that of the original."""
    steps = through("d" * 20, "d" * 10 + "e" * 10, "e" * 20, "e" * 9)
    assert [(step["distance"], step["limit"], step["decision"]) for step in steps] == [
        (10, 10.0, "accepted"), (10, 10.0, "accepted"), (11, 10.0, "rejected"),
    ]  # fmt: skip


def brute_force(scores: np.ndarray, most: int) -> float:
    gains = np.maximum(scores, 0)
    return max(sum(max(row[list(some)]) for row in gains) for some in combinations(range(scores.shape[1]), most))


@pytest.mark.parametrize("seed", range(12))
def test_exact_choice_equals_brute_force_and_greedy_keeps_its_bound(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(seed).normal(size=(7, 9))
    best = brute_force(scores, 5)
    shown, how = chosen(scores, 5)
    assert (how, len(shown)) == ("exact", 5)
    assert coverage.coverage(scores, shown) == pytest.approx(best, abs=1e-6)
    monkeypatch.setattr(coverage, "EXACT_UP_TO", 0)
    greedy, how = chosen(scores, 5)
    assert (how, len(set(greedy)), greedy) == ("greedy", 5, sorted(greedy))
    assert (1 - 1 / np.e) * best <= coverage.coverage(scores, greedy) <= best + 1e-6


def test_few_are_all_shown_and_equals_are_decided_by_order() -> None:
    assert chosen(np.ones((3, 5)), 5) == ([0, 1, 2, 3, 4], "all")
    assert chosen(np.zeros((2, 0)), 5) == ([], "all")
    assert chosen(np.ones((3, 7)), 5) == ([0, 1, 2, 3, 4], "exact")
    assert chosen(-np.ones((3, 7)), 5) == ([0, 1, 2, 3, 4], "exact")
    assert chosen(np.ones((3, 24)), 5) == ([0, 1, 2, 3, 4], "greedy")


def test_a_snippet_that_alone_answers_a_question_is_shown() -> None:
    scores = np.array([[0.9] * 6 + [0.0], [0.1] * 6 + [0.8]])
    assert 6 in chosen(scores, 5)[0]


def test_windows_slide_by_a_sentence_and_are_verbatim() -> None:
    text = "Dr. Smith came. He saw 3.5 km of it.  Then he left! Did he? Yes."
    found = windows(Document("s", "t", text), 2)
    assert found[0] == "Dr. Smith came. He saw 3.5 km of it."
    assert len(found) == 4
    assert all(each in text for each in found)
    assert windows(Document("s", "t", text), 9) == [text]
    assert windows(Document("s", "t", " \n ")) == []
    odd = "One  ♫ is∯ here.\u00a0Two\x1f is. ∯ Three ☇ is."
    assert "".join("".join(each.split()) for each in windows(Document("s", "t", odd), 1)) == "".join(odd.split())


def test_windows_cross_paragraphs_and_are_bounded() -> None:
    assert windows(Document("s", "t", "One is.\n\nTwo is."), 2) == ["One is.\n\nTwo is."]
    assert [len(each) <= LONGEST_WINDOW for each in windows(Document("s", "t", "word " * 3_000))] == [True]


def test_shared_words_are_stems_without_stopwords_in_title_or_text() -> None:
    score = SharedWords(Analyzer()).score
    assert score([("Where does the river end?", "River", "It ends there.")]) == [2 / 4]  # where, does, river, end
    assert score([("the of", "t", "x"), ("rivers", "", "")]) == [0.0, 0.0]
    assert score([]) == []


def test_a_cross_encoder_scores_each_pair() -> None:
    class Lengths:
        signature = "lengths"

        def rerank(self, queries, hits):
            assert all(isinstance(hit.passage, Passage) for each in hits for hit in each)
            return [
                [Retrieved(each[0].passage, len(q) + len(each[0].passage.text))]
                for q, each in zip(queries, hits, strict=True)
            ]

    model = CrossEncoded(Lengths())
    assert (model.score([("ab", "t", "x"), ("a", "t", "xyz")]), model.signature) == ([3, 4], "relevance:lengths")


def test_cosines_are_of_query_and_titled_text() -> None:
    class Plain:
        identity = "plain"

        def queries(self, texts):
            return np.array([[len(text), 1.0] for text in texts])

        def passages(self, texts):
            return np.array([[1.0, len(text)] for text in texts])

    assert Cosine(Plain()).score([("ab", "t", "x"), ("a", "", "xyz"), ("ab", "t", "x")]) == [5.0, 4.0, 5.0]
