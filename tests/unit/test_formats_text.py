"""Text is text: every value comes out of every kind of file as it was typed."""

from __future__ import annotations

import csv
import gzip
import io

import pytest

from submissions.formats import Limits, read_table
from tests.formats_writers import KINDS, LIMITS, PASSAGE, accept, questions, write

TYPED = [
    *("None", "NA", "N/A", "null", "nan", "NaN", "True", "FALSE", "inf", "-", "#N/A", "NULL", "undefined"),
    *("007", "0", "-0", "67.0", "1e5", "1E400", "0x1F", "1_000", "1990", "10.50", "1,000", "12/05", "2022-12-15"),
    *("A+", "C++", "C#", "U.S.", "$100", "6'2\"", '"Fix You"', '"', '""', "=1+1", "@x", "+1", "-1", "'", "\\", "a\\"),
    *("</s>", "<extra_id_0>", "<b>&amp;</b>", "( B )", "The Who", "1968–1970", "don’t", "cafe\u0301", "caf\u00e9"),
    *("Paris ", " Paris", "Paris\u00a0", "Paris\u200b", "\ufeffParis", "東京", "\U0001f469\u200d\U0001f467"),
    *("\u202eabc", "a\u2028b", "a\u0085b", "\x07", "\x1a", "{}", "[1]", "#", "//x", "\\n", "a\tb", "tab\t", "a,b;c|d"),
    *("line\nfeed", "line\r\nfeed", "line\rfeed", "\n"),
]


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("kind", KINDS)
def test_values_come_out_as_typed(kind: str, packed: bool) -> None:
    benchmark = questions(*(f"question {number}" for number in range(len(TYPED))))
    rows = [
        {"question": question.text, "answer": answer, "attribution": PASSAGE}
        for question, answer in zip(benchmark, TYPED, strict=True)
    ]
    data = write(kind, rows)
    accepted = accept(gzip.compress(data) if packed else data, benchmark, f"answers.{kind}")
    assert accepted.report.fatal == ()
    assert [prediction.answer for prediction in accepted.predictions] == TYPED
    assert accepted.report.counts["empty_answer"] == sum(not answer.strip() for answer in TYPED)


@pytest.mark.parametrize("kind", KINDS)
def test_values_without_quotes_beside_a_blank_row(kind: str) -> None:
    benchmark = questions("in which year", "and then", "which agent")
    rows = [
        {"question": "in which year", "answer": "1990", "attribution": PASSAGE},
        {"question": "and then", "answer": "", "attribution": ""},
        {"question": "which agent", "answer": "007", "attribution": ""},
    ]
    accepted = accept(write(kind, rows), benchmark)
    assert [prediction.answer for prediction in accepted.predictions] == ["1990", "", "007"]
    assert accepted.report.counts["empty_answer"] == 1
    assert accepted.report.counts["empty_attribution"] == 2


@pytest.mark.parametrize("kind", KINDS)
def test_200_kb_are_accepted_whatever_another_reader_set(kind: str) -> None:
    answer = "Lorem ipsum, “dolor” " * 10_000
    assert len(answer.encode()) > 200_000
    before = csv.field_size_limit(131_072)
    try:
        data = write(kind, [{"question": "q", "answer": answer, "attribution": ""}])
        accepted = accept(data, questions("q"))
    finally:
        csv.field_size_limit(before)
    assert accepted.report.fatal == ()
    assert accepted.predictions[0].answer == answer


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["x" * 1001, "é" * 501, "😀" * 251], ids=["ascii", "two bytes", "four bytes"])
def test_overlong_fields_refuse_the_file(kind: str, text: str) -> None:
    limits = Limits(field_bytes=1000)
    rows = [{"question": name, "answer": text, "attribution": ""} for name in "ab"]
    refused = accept(write(kind, rows), questions("a", "b"), limits=limits)
    assert refused.predictions == []
    assert refused.report.counts["overlong_field"] == 2
    assert [place.row for place in refused.report.places] == [1, 2]
    assert "“answer”" in refused.report.fatal[0]
    fits = [{"question": "a", "answer": text[: 1000 // len(text[0].encode())], "attribution": ""}]
    assert accept(write(kind, fits), questions("a", "b"), limits=limits).report.accepted


@pytest.mark.parametrize(
    "answer", ["1968–1970", "don’t", "cafe\u0301", "Paris\u200b", "½", "“Emma”"], ids=lambda text: ascii(text)
)
def test_answers_that_only_lenient_matching_understands_are_warned_of(answer: str) -> None:
    data = write("csv", [{"question": "q", "answer": answer, "attribution": ""}])
    accepted = accept(data, questions("q"))
    assert accepted.report.counts["unusual_characters"] == 1
    assert accepted.predictions[0].answer == answer


@pytest.mark.parametrize("answer", ["1968-1970", "café", "Paris\u00a0", "東京", "don't"], ids=lambda text: ascii(text))
def test_plain_answers_are_not_warned_of(answer: str) -> None:
    data = write("csv", [{"question": "q", "answer": answer, "attribution": ""}])
    assert accept(data, questions("q")).report.counts["unusual_characters"] == 0


def test_other_columns_of_a_table_are_text_too() -> None:
    data = b"Rater,interpretable,supported,rated_at\nr1,Y,,2022-12-15\n007,N,NA,1e5\n"
    table = read_table(io.BytesIO(data), "ratings.csv", LIMITS, ("rater", "interpretable", "supported", "rated_at"))
    assert table.kind == "csv"
    assert table.header == ("Rater", "interpretable", "supported", "rated_at")
    assert [row.cells for row in table.rows] == [
        {"rater": "r1", "interpretable": "Y", "supported": "", "rated_at": "2022-12-15"},
        {"rater": "007", "interpretable": "N", "supported": "NA", "rated_at": "1e5"},
    ]
    assert [row.row for row in table.rows] == [1, 2]
    everything = read_table(io.BytesIO(data), "ratings.csv", LIMITS)
    assert everything.rows[0].cells["Rater"] == "r1"
