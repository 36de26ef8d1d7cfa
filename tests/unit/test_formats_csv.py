"""CSV and TSV: strict quotes, field counts and headers."""

from __future__ import annotations

import pytest

from core.records import Report
from tests.formats_writers import PASSAGE, accept, questions, write

BENCHMARK = questions("q one", "q two", "q three", "q four", "q five, too")
HEADER = b"question,answer,attribution\n"


def refused(data: bytes) -> Report:
    """The report of a file that must not be taken."""
    outcome = accept(data, BENCHMARK)
    assert outcome.predictions == []
    assert outcome.report.fatal
    return outcome.report


@pytest.mark.parametrize(
    "line, row_text",
    [
        (b'q two,"Paris,x', "never closed"),
        (b'"q two,Paris,x', "never closed"),
        (b'q two,Paris,"x', "never closed"),
        (b'q two,"Fix You" by Coldplay,x', "closing quote"),
        (b'q two,"a" ,x', "closing quote"),
    ],
)
def test_an_unbalanced_quote_is_reported_at_the_row_where_it_began(line: bytes, row_text: str) -> None:
    report = refused(HEADER + b"q one,a,b\n" + line + b"\nq three,a,b\nq four,a,b\n")
    (place,) = report.places
    assert (place.kind, place.row) == ("quoting", 2)
    assert "line 3" in place.message
    assert row_text in place.message
    assert place.excerpt == line.decode()


def test_a_quote_closed_amid_a_later_row() -> None:
    report = refused(HEADER + b'q one,"a,b\nq two,a,b\n"q five, too",a,b\n')
    assert report.places[0].row == 1
    assert "line 4" in report.places[0].message
    assert report.places[0].excerpt == 'q one,"a,b'


@pytest.mark.parametrize(
    "data",
    [
        HEADER + b'q one,"a,b\nq two,x,y\nq three,6\'2",b\nq four,a,b\n',
        HEADER + b'q one,"a,b\nq two,6\'2",b\nq four,a,b\n',
        HEADER + b'"q one,a,b\nq two",x,y\nq three,a,b\n',
        HEADER + b'q one,a,"b\nq two,x,y\n"\nq four,a,b\n',
        b'id,answer,attribution\nq1,"a,b\nq2,x,y\nq3,6\'2",b\nq4,a,b\n',
    ],
)
def test_well_formed_fields_that_swallowed_rows(data: bytes) -> None:
    report = refused(data)
    assert (report.places[0].kind, report.places[0].row) == ("quoting", 1)


def test_line_ends_inside_quotes_are_text() -> None:
    answer = "first, second\nq two, said she\r\nthird\rq four"
    rows = [{"question": "q one", "answer": answer, "attribution": PASSAGE}]
    rows += [{"question": question.text, "answer": "a", "attribution": ""} for question in BENCHMARK[1:]]
    accepted = accept(write("csv", rows), BENCHMARK)
    assert accepted.report.fatal == ()
    assert accepted.predictions[0].answer == answer


def test_quotes_within_a_field_without_quotes_are_text() -> None:
    accepted = accept(HEADER + b'q one,6\'2",x\nq two, "a",x\n', BENCHMARK)
    assert [prediction.answer for prediction in accepted.predictions] == ["6'2\"", ' "a"']


def test_field_counts() -> None:
    report = refused(HEADER + b"q one,a,b\nq two,a\n\nq three,Paris, France,x\nq four,a,b\n")
    assert [(place.kind, place.row, place.excerpt) for place in report.places] == [
        ("field_count", 2, "q two,a"),
        ("field_count", 3, "q three,Paris, France,x"),
        ("unknown_attribution", 1, "b"),
        ("unknown_attribution", 4, "b"),
    ]
    assert "2 fields (line 3) where the header has 3" in report.fatal[0]
    assert "1 more place" in report.fatal[0]


def test_nul_bytes() -> None:
    report = refused(HEADER + b"q one,a,b\nq two,a\0b,x\nq three,\0,\0\n")
    assert report.counts["nul_byte"] == 3
    assert [place.row for place in report.places if place.kind == "nul_byte"] == [2, 3, 3]
    assert report.places[0].excerpt == "q two,a\\u0000b,x"
    assert refused(b"question,answer,attri\0bution\na,b,c\n").counts["nul_byte"] == 1


@pytest.mark.parametrize(
    "header, said",
    [
        (b"question,answer,answer,attribution", "twice: “answer”"),
        (b"question,answer,attribution,,", "twice: (no name)"),
        (b"question,answer,Answer,attribution", "More than one column means “answer”"),
        (b"question,answer", "missing: “attribution”"),
        (b"question,prediction,evidence", "found: “question”, “prediction”, “evidence”"),
        (b"q one,Paris,x", "first row must name the columns"),
        (b"question;answer;attribution", "not by semicolons"),
        (b'"question,answer,attribution', "never closed"),
    ],
)
def test_headers_that_are_refused(header: bytes, said: str) -> None:
    width = header.count(b",") + 1
    report = refused(header + b"\n" + b",".join([b"q one"] * width) + b"\n")
    assert said in " ".join(report.fatal)
    assert all(place.row is None for place in report.places)


def test_headers_that_are_understood() -> None:
    accepted = accept(b' Answer ,"QUESTION",Attribution,,score\na,q one,x,0,0.5\n', BENCHMARK)
    assert accepted.predictions[0].answer == "a"
    notes = " ".join(accepted.report.notes)
    assert "without regard to case" in notes
    assert "“score”" in notes
    assert "(no name)" in notes


def test_tabs() -> None:
    data = b'question\tanswer\tattribution\nq one\ta, b\tx\nq two\t"a\tb"\tx\n'
    accepted = accept(data, BENCHMARK, "answers.csv")
    assert [prediction.answer for prediction in accepted.predictions] == ["a, b", "a\tb"]
    assert accepted.report.notes == ("Read as TSV, which is what the content is; the name says otherwise.",)
