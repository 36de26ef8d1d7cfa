"""Terms as Lucene's EnglishAnalyzer makes them."""

from __future__ import annotations

import pytest

from systems.retrieval.analysis import STOPWORDS, Analyzer


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The capital of Norway", ["capit", "norwai"]),
        ("running runs ran", ["run", "run", "ran"]),
        ("Norway's king, the kings' crown", ["norwai", "king", "king", "crown"]),
        ("U.S. and 6,650 km in 3.14 don't", ["u.", "6,650", "km", "3.14", "don't"]),
        ("Apollo 8 is us", ["apollo", "8", "us"]),
        ("cafe\u0301 CAFÉ", ["café", "café"]),
        ("a, b; c—d e/f", ["b", "c", "d", "e", "f"]),
        ("« Title » ... !!", ["titl"]),
        ("", []),
        ("the of and to be", []),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert Analyzer().terms(text) == terms


def test_stopwords_are_lucenes_33() -> None:
    assert len(STOPWORDS) == 33


def test_words_of_any_length() -> None:
    assert [len(term) for term in Analyzer().terms("x" * 5_000)] == [255]
