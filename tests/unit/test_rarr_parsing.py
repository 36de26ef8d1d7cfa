"""What is read out of replies: lists of questions, verdicts in many words, edits; and spacing that survives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from systems.rarr.parsing import (
    Edit,
    cut_off,
    keep_spacing,
    read_edit,
    read_questions,
    read_response,
    read_searches,
    read_verdict,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("- Who? yes\n- When was it?  it was\n", ["Who?", "When was it?"]),
        ("1. Who wrote it?\n2) When?\n(3) Where was he?\n4: Why?", ["Who wrote it?", "When?", "Where was he?", "Why?"]),
        ("* **Who wrote it?**\n• \"Did it end?\"\nQ: Why?", ["Who wrote it?", "Did it end?", "Why?"]),
        ("Question 2: How?\nsearch: why?", ["How?", "why?"]),
        ("a) Who is it?\nb) Who is IT ?", ["Who is it?"]),
        ("no question\n\n?\n- ?", []),
        ("- " + "x" * 400 + "?", []),
        ("- Is it 3.5 km? Or 4 km?", ["Is it 3.5 km? Or 4 km?"]),
        ("", []),
    ],
)  # fmt: skip
def test_questions(text: str, found: list[str]) -> None:
    assert read_questions(text) == found


def test_searches_need_no_question_mark() -> None:
    assert read_searches("- Danube mouth\n- danube  MOUTH\n- --\n2. Nile length") == ["Danube mouth", "Nile length"]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (" a\nEvidence says: b\nVerdict: disagrees", "disagrees"),
        ("Verdict: Agrees.", "agrees"),
        ("**Verdict:** irrelevant", "irrelevant"),
        ("verdict - The evidence DISAGREES with the text", "disagrees"),
        ("Verdict:\nagrees", "agrees"),
        ("Verdict: does not agree", "disagrees"),
        ("Verdict: doesn't disagree", "agrees"),
        ("Verdict: not contradicted", "agrees"),
        ("Verdict: contradicts the text", "disagrees"),
        ("Verdict: unrelated", "irrelevant"),
        ("Verdict: not relevant", "irrelevant"),
        ("Verdict: supports", "agrees"),
        ("Verdict: does not support the text", "disagrees"),
        ("Verdict: disagrees, although another source agrees", "disagrees"),
        ("Evidence agrees on nothing\nVerdict: disagrees", "disagrees"),
        ("The evidence disagrees.", "disagrees"),
        ("It agrees and it disagrees.", None),
        ("Verdict: yes", None),
        ("Verdict:", None),
        ("disagreeable? no: agreeable!", None),
        ("", None),
    ],
)
def test_verdicts(text: str, verdict: str | None) -> None:
    assert read_verdict(text) == verdict


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        (" in 1987\nShould be: in 1989\nCorrected text: It fell in 1989.", Edit("in 1987", "It fell in 1989.")),
        ('"in 1987"\n**Corrected text:** "It fell in 1989."\nText: next', Edit("in 1987", "It fell in 1989.")),
        (" x\nRevised text: y\nmore", Edit("x", "y")),
        (" x\nCorrected reply:\ny", Edit("x", "y")),
        ("Corrected text: y", Edit("", "y")),
        (" x Should be: z Corrected text: y", Edit("x", "y")),
        (" x\nShould be: y", None),
        (" x\nCorrected text:", None),
        (" x\nCorrected text: \n \n", None),
        ("", None),
    ],
)
def test_edits(text: str, edit: Edit | None) -> None:
    assert read_edit(text) == edit


def test_a_limit_within_the_last_line_cuts_it_off() -> None:
    assert cut_off(" x\nCorrected text: The Danube ends in", "length")
    assert not cut_off(" x\nCorrected text: The Danube ends in it.\nText", "length")
    assert not cut_off(" x\nCorrected text: The Danube ends in", "stop")
    assert cut_off("The Danube ends", "length")


def test_a_response_is_the_first_line_that_says_something() -> None:
    assert read_response("\n Revised response: “It fell.” \nmore") == "It fell."
    assert read_response("  \n") == ""


@pytest.mark.parametrize(
    ("current", "revised", "kept"),
    [
        ("one two", "one 2", "one 2"),
        ("one\ntwo  three\n", "one two three", "one\ntwo  three\n"),
        ("one\ntwo\n\nthree four", "one two 3 four", "one\ntwo\n\n3 four"),
        ("one\ntwo\nthree", "one three", "one\nthree"),
        ("one\ntwo", "one and a two more", "one and a\ntwo more"),
        ("  one\ntwo", "1 two", "  1\ntwo"),
        ("\tone\ntwo three", "one two", "\tone\ntwo"),
    ],
)
def test_spacing_is_kept_where_words_are(current: str, revised: str, kept: str) -> None:
    assert keep_spacing(current, revised) == kept


@given(st.text(), st.text())
def test_parsers_never_raise_and_kept_spacing_keeps_the_words(one: str, two: str) -> None:
    for read in (read_questions, read_searches, read_verdict, read_edit, read_response):
        read(one)
    assert keep_spacing(one, " ".join(two.split())).split() == two.split() or one.split() == two.split()
