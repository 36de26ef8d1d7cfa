"""JSON Lines and JSON arrays: literals as typed, strict objects, errors with their rows."""

from __future__ import annotations

import gzip
import json
import random

import pytest

from core.records import Report
from submissions.formats import Limits
from tests.formats_writers import accept, questions, write

BENCHMARK = questions("q one", "q two", "q three")
KINDS = ("jsonl", "json")


def rows_of(kind: str, *objects: str) -> bytes:
    """Objects, as typed, in a file."""
    text = "\n".join(objects) if kind == "jsonl" else "[" + ",\n".join(objects) + "]"
    return text.encode("utf-8")


def row(answer: str, question: str = '"q one"') -> str:
    return f'{{"question": {question}, "answer": {answer}, "attribution": null}}'


def refused(data: bytes) -> Report:
    outcome = accept(data, BENCHMARK)
    assert outcome.predictions == []
    assert outcome.report.fatal
    return outcome.report


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "literal, text",
    [
        *(
            (typed, typed)
            for typed in ("67.0", "1e5", "0", "-0", "1990", "1E400", "1234567890123456789.10", "9" * 5000)
        ),
        *(("null", ""), ("true", "true"), ("false", "false"), ('"null"', "null"), ('"\\u00e9\\ud83d\\ude00"', "é😀")),
        ('"a\u2028b\u0085c"', "a\u2028b\u0085c"),
    ],
)
def test_literals_are_kept_as_typed(kind: str, literal: str, text: str) -> None:
    accepted = accept(rows_of(kind, row(literal)), BENCHMARK)
    assert accepted.report.fatal == ()
    assert accepted.predictions[0].answer == text
    assert accepted.predictions[0].attribution == ""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "bad, error",
    [
        (row("007"), "invalid_json"),
        (row("'x'"), "invalid_json"),
        (row('"a\nb"'), "invalid_json"),
        (row('"a\tb"'), "invalid_json"),
        (row('"x"') + row('"y"'), "invalid_json"),
        ('["q two", "a", "b"]', "invalid_json"),
        ('"q two"', "invalid_json"),
        ("12", "invalid_json"),
        ("null", "invalid_json"),
        ('{"question": "q two", "answer": "x', "invalid_json"),
        (row("NaN"), "not_a_number"),
        (row("-Infinity"), "not_a_number"),
        ('{"question": "q two", "answer": "", "attribution": "", "score": NaN}', "not_a_number"),
        ('{"question": "q two", "answer": "x", "attribution": "", "answer": "y"}', "duplicate_key"),
        ('{"question": "q two", "answer": "x", "attribution": "", "metadata": {"a": 1, "a": 2}}', "duplicate_key"),
        (row('["x"]'), "nested_value"),
        (row('{"text": "x"}'), "nested_value"),
        (row('"\\ud800"'), "lone_surrogate"),
        (row('"\\udc00\\ud800"'), "lone_surrogate"),
        (row('"\\u0000"'), "nul_byte"),
        ('{"question": "q two", "answer": "x"}', "missing_field"),
        ('{"answer": "x", "attribution": ""}', "missing_field"),
    ],
)
def test_bad_rows_are_reported_with_their_number(kind: str, bad: str, error: str) -> None:
    report = refused(rows_of(kind, row('"a"'), bad, row('"b"', '"q three"')))
    place = report.places[0]
    assert (place.kind, place.row) == (error, 2)
    assert place.excerpt
    json.dumps(place.excerpt).encode()
    place.message.encode()


def test_all_bad_lines_are_counted() -> None:
    report = refused(b"\n".join([row('"a"').encode(), b"x", b"{", row("NaN").encode(), row("[]").encode()] * 300))
    assert report.counts["invalid_json"] == 600
    assert report.counts["not_a_number"] == report.counts["nested_value"] == 300
    assert len(report.places) == 1000
    kinds = {"invalid_json", "not_a_number", "nested_value", "duplicate_question"}
    assert {place.kind for place in report.places} == kinds
    assert "599 more places" in report.fatal[0]


@pytest.mark.parametrize(
    "data, said",
    [
        (b"[", "not valid JSON"),
        (b"[" + row('"a"').encode(), "not closed with ]"),
        (b"[" + row('"a"').encode() + b",]", "not valid JSON"),
        (b"[" + row('"a"').encode() + b" " + row('"b"').encode() + b"]", "no comma"),
        (b"[" + row('"a"').encode() + b"] x", "behind the end"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (json.dumps({"question": "q one"}, indent=1).encode(), "does not end on its line"),
        (b'{"q one": "Paris", "q two": "Rome"}', "found: “q one”, “q two”"),
    ],
)
def test_broken_structure(data: bytes, said: str) -> None:
    assert said in refused(data).fatal[0]


def test_rows_part_at_lf_alone() -> None:
    lines = [row('"a"'), row('"b"', '"q two"')]
    assert "More than one value on a line" in refused("\r".join(lines).encode()).fatal[0]
    assert accept("\r\n".join(lines).encode(), BENCHMARK).coverage == 2 / 3


def test_keys_may_come_in_any_order_and_nested_values_elsewhere_do_no_harm() -> None:
    data = rows_of(
        "jsonl",
        '{"ctxs": [{"id": 1, "nan": null}], "attribution": "x", "answer": "a", "Question ": "q one"}',
        '{"question": "q two", "answer": "b", "attribution": "x", "metadata": {"k": [1]}}',
    )
    accepted = accept(data, BENCHMARK)
    assert "“Question ”, “question”" in accepted.report.fatal[0]
    data = data.replace(b"Question ", b"question")
    accepted = accept(data, BENCHMARK)
    assert [prediction.answer for prediction in accepted.predictions] == ["a", "b"]
    assert "“ctxs”, “metadata”" in accepted.report.notes[0]


@pytest.mark.parametrize("size", [1, 7, 400_000])
def test_arrays_larger_than_the_window(size: int) -> None:
    rows = [{"question": question.text, "answer": "é" * size, "attribution": ""} for question in BENCHMARK]
    limits = Limits(field_bytes=10_000_000)
    for pad in range(2):
        accepted = accept(b" " * (2**20 - pad) + write("json", rows), BENCHMARK, limits=limits)
        assert [len(prediction.answer) for prediction in accepted.predictions] == [size] * 3


@pytest.mark.parametrize("at", range(-14, 3))
def test_arrays_broken_near_the_edge_of_the_window(at: int) -> None:
    head = '[{"question": "q one", "attribution": "x", "answer": "'
    answer = "a" * (2**20 - len(head) + at)
    text = f'{head}{answer}", "n": -12.5e3, "t": true, "u": "\\u00e9"}}, {row("null", chr(34) + "q two" + chr(34))}]'
    accepted = accept(text.encode(), BENCHMARK, limits=Limits(field_bytes=2**21))
    assert [len(prediction.answer) for prediction in accepted.predictions] == [len(answer), 0]


def test_one_row_larger_than_a_file_may_be() -> None:
    limits = Limits(file_bytes=2**21, field_bytes=2**24)
    big = random.Random(0).randbytes(3 * 2**19).hex()
    for kind in ("csv", "jsonl", "json"):
        data = gzip.compress(write(kind, [{"question": "q one", "answer": big, "attribution": ""}]))
        outcome = accept(data, BENCHMARK, limits=limits)
        assert outcome.report.counts["too_large"] == 1
        assert "larger than a whole file" in outcome.report.fatal[0]
