"""EM, F1, their compat twins and lenient EM: every *Answers* row of the hard inputs with its right value."""

from __future__ import annotations

import math

import pytest

from core.records import Item, Prediction, Question
from scorer import metrics

KEYS = ("em", "f1", "em_compat", "f1_compat", "em_lenient")


def measure(answer: str | None, *references: str) -> dict[str, float]:
    question = Question(0, "q", "question", references)
    prediction = None if answer is None else Prediction(0, answer, "", None)
    return {key: metrics.load(key).measure([Item(question, prediction)]).values[0] for key in KEYS}


@pytest.mark.parametrize("text", ["None", "NA", "N/A", "null", "nan", "True", "007", "0", "67.0", "1e5", "1990"])
def test_text_that_looks_like_something_else_is_text(text: str) -> None:
    assert set(measure(text, "other", text).values()) == {1.0}


@pytest.mark.parametrize(("left", "right"), [("007", "7"), ("67.0", "67"), ("1990", "1990.0"), ("1e5", "100000")])
def test_numbers_are_not_compared_as_numbers(left: str, right: str) -> None:
    assert measure(left, right)["em"] == 0


@pytest.mark.parametrize("answer", [None, "", "  ", "\t\n", "\u00a0"])
@pytest.mark.parametrize("reference", ["Paris", "The", "A+", "!!!"])
def test_nothing_said_scores_nothing(answer: str | None, reference: str) -> None:
    found = measure(answer, reference)
    assert (found["em"], found["f1"], found["em_lenient"]) == (0, 0, 0)


def test_the_public_metric_credits_an_empty_answer_where_the_reference_normalises_to_nothing() -> None:
    assert measure("", "The")["em_compat"] == 1
    assert measure("The", "A+")["em_compat"] == 1
    assert measure("The", "A+")["em"] == 0


def test_two_texts_that_normalise_to_nothing_must_be_equal_as_typed() -> None:
    found = measure("A+ ", "A+")
    assert (found["em"], found["f1"], found["em_compat"], found["f1_compat"]) == (1, 1, 1, 0)
    assert measure("A", "A+")["em"] == 0


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("C++", "C#"), ("U.S.", "US"), ("1.5", "15"), ("$100", "100"), ("Paris ", "Paris"), ("Paris\u00a0", "Paris"),
        ("( B )", "(B)"), ("The Who", "who"), ('"Fix You"', "fix you"), ("6'2\"", "62"), ("=1+1", "11"),
    ],
)  # fmt: skip
def test_equal_under_squad_normalisation(left: str, right: str) -> None:
    assert measure(left, right)["em"] == 1


@pytest.mark.parametrize(
    ("left", "right"),
    [("1968–1970", "1968-1970"), ("don’t", "don't"), ("café", "cafe\u0301"), ("Paris\u200b", "Paris")],
)
def test_typography_is_forgiven_by_lenient_em_alone(left: str, right: str) -> None:
    found = measure(left, right)
    assert (found["em"], found["em_lenient"]) == (0, 1)


def test_other_answers() -> None:
    assert measure("Banana", "bnn")["em"] == 0
    assert measure("not Mark Twain", "Mark Twain")["em"] == 0
    assert measure("not Mark Twain", "Mark Twain")["f1"] == pytest.approx(0.8)
    assert measure("three", "one", "two", "three", "four", "five")["em"] == 1
    assert measure("</s>", "s")["em"] == 1
    assert measure("<extra_id_0>", "extraid0")["em"] == 1
    assert measure("x" * 200_000, "y")["em"] == 0


def test_every_metric_has_words_for_people() -> None:
    for key, metric in zip(metrics.REGISTRY, metrics.load_all(), strict=True):
        assert metric.key == key
        assert metric.title
        assert metric.help.endswith(".")


def test_denominator_is_all_questions() -> None:
    questions = [Question(at, str(at), f"q{at}", ("yes",)) for at in range(4)]
    items = [Item(questions[0], Prediction(0, "yes", "", None)), *(Item(q, None) for q in questions[1:])]
    measured = metrics.load("em").measure(items)
    assert math.fsum(measured.values) / len(measured.values) == 0.25
