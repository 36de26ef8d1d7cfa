"""What is read out of texts that models really write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from systems.prompts import read_answer, read_answer_and_url, read_cited_answer


@pytest.mark.parametrize(
    "text, answer",
    [
        (" Paris", "Paris"),
        ("\n\n  Paris  \nQ: and then", "Paris"),
        ("A: Paris", "Paris"),
        ("Answer: Paris", "Paris"),
        ("**Paris**", "Paris"),
        ("**Answer:** Paris", "Paris"),
        ('"Fix You"', "Fix You"),
        ("“Fix You”", "Fix You"),
        ('"Fix You" and "Yellow"', '"Fix You" and "Yellow"'),
        ("6'2\"", "6'2\""),
        ("U.S.", "U.S."),
        ("A+", "A+"),
        ("a: b", "b"),
        ("Paris<|im_end|>", "Paris"),
        ("N/A", "N/A"),
        ("0", "0"),
        ("", ""),
        ("  \n ", ""),
        ("*", "*"),
    ],
)
def test_answers(text: str, answer: str):
    assert read_answer(text) == answer


@pytest.mark.parametrize(
    "text, answer, url",
    [
        (" Paris\nURL: https://en.wikipedia.org/wiki/Paris", "Paris", "https://en.wikipedia.org/wiki/Paris"),
        ("Paris URL: http://en.wikipedia.org/wiki/Paris.", "Paris", "http://en.wikipedia.org/wiki/Paris"),
        ("Paris (https://en.wikipedia.org/wiki/Paris)", "Paris", "https://en.wikipedia.org/wiki/Paris"),
        ("Mercury\nurl: <https://en.wikipedia.org/wiki/Mercury_(planet)>", "Mercury",
         "https://en.wikipedia.org/wiki/Mercury_(planet)"),
        ("Mercury, see [it](https://en.wikipedia.org/wiki/Mercury_(planet)).", "Mercury, see [it]",
         "https://en.wikipedia.org/wiki/Mercury_(planet)"),
        ("Answer: Paris\nSource: en.m.wikipedia.org/wiki/Paris", "Paris", "en.m.wikipedia.org/wiki/Paris"),
        ("Paris\nURL: https://www.britannica.com/Paris", "Paris", "https://www.britannica.com/Paris"),
        ("Paris\nURL: wiki/Paris", "Paris", "wiki/Paris"),
        ("Paris\nURL: Paris", "Paris", ""),
        ("Paris\nURL:", "Paris", ""),
        ("Paris", "Paris", ""),
        ("https://en.wikipedia.org/wiki/Paris", "", "https://en.wikipedia.org/wiki/Paris"),
        ("", "", ""),
    ],
)  # fmt: skip
def test_answers_with_addresses(text: str, answer: str, url: str):
    assert read_answer_and_url(text) == (answer, url)


@pytest.mark.parametrize(
    "text, answer, best",
    [
        (" Paris [2]", "Paris", 1),
        ("Paris [1][2]", "Paris", 0),
        ("Paris (2)", "Paris", 1),
        ("[2] Paris", "Paris", 1),
        ("Paris [4]", "Paris [4]", None),
        ("Paris [0]", "Paris [0]", None),
        ("Apollo 11", "Apollo 11", None),
        ("in 1990 (1990)", "in 1990 (1990)", None),
        ("Paris", "Paris", None),
    ],
)
def test_answers_with_citations(text: str, answer: str, best: int | None):
    assert read_cited_answer(text, 3) == (answer, best)


@given(st.text(max_size=200))
def test_no_text_breaks_a_parser(text: str):
    answer, url = read_answer_and_url(text)
    assert answer == answer.strip()
    assert len((answer + url).splitlines()) <= 1
    cited, best = read_cited_answer(text, 3)
    assert cited == read_answer(text) or best in (0, 1, 2)
