"""The baseline judge's values on hand-computed cases."""

from __future__ import annotations

import pytest

from core.errors import InvalidInput
from core.records import Pair, Passage
from core.templates import hypothesis, qa_pair
from scorer import judges
from scorer.judges.token_overlap import overlap

PASSAGE = Passage("x", "Ada", "Ada, Life", "Ada Lovelace wrote the first published program in 1843.")


@pytest.mark.parametrize(
    "question, answer, p",
    [
        ("who wrote the first program", "Ada Lovelace", 1.0),
        ("who wrote the first program", "Charles Babbage", 0.0),
        ("who wrote the first program", "Ada Byron", 0.5**0.5),
        ("who wrote the fifth book quickly", "Ada", 0.25**0.5),
        ("what is it", "1843", 1.0),
        ("what is it", "the", 1.0),
        ("who is it", "", 0.0),
        ("who is it", "+", 0.0),
        ("who is it", "1843.", 1.0),
        ("who said 'x' is 'y'", "Ada", 0.0),
    ],
)
def test_values(question: str, answer: str, p: float) -> None:
    pair = qa_pair(question, answer, PASSAGE)
    (judgment,) = judges.load("token-overlap").judge([pair])
    assert judgment.p == pytest.approx(p)
    assert judgment.label == ("1" if p >= 0.5 else "0")


def test_bare_statement() -> None:
    assert overlap("Ada wrote it.", "Ada wrote a novel") == pytest.approx(2 / 3)


def test_a_pair_means_the_same_with_and_without_its_parts() -> None:
    """The judgment cache knows a pair by its two texts, so nothing else may move p."""
    whole = qa_pair("who wrote it", "Ada", PASSAGE)
    bare = Pair(whole.premise, hypothesis("who wrote it", "Ada"))
    judge = judges.load("token-overlap")
    assert judge.judge([whole]) == judge.judge([bare])


def test_calls_itself_a_baseline() -> None:
    judge = judges.load("token-overlap")
    assert all("baseline" in text.lower() for text in (judge.title, judge.help, judge.score_name))


def test_has_no_checkpoint() -> None:
    with pytest.raises(InvalidInput, match="no checkpoint"):
        judges.load("token-overlap:some/model")
